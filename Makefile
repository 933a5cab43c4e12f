# SPDX-License-Identifier: GPL-3.0-or-later
# One non-recursive Makefile; every variant lives in its own tree build/$(V), so
# that `make asan` never invalidates the release objects.
V        ?= release
B        := build/$(V)
CC       ?= gcc
ifeq ($(origin CC),default)
CC       := gcc
endif
PREFIX   ?= /usr/local

PKGS     := gsl hdf5 zlib yaml-0.1 libcrypto
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

CSTD     := -std=c17 -D_GNU_SOURCE
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wvla -Wformat=2 -Wundef -Wwrite-strings -Wpointer-arith
OPT_release  := -O2 -g -DNDEBUG
OPT_debug    := -O0 -g3
OPT_asan     := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT_ubsan    := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all
OPT_coverage := -O0 -g --coverage
DET      := -ffp-contract=off -ffile-prefix-map=$(CURDIR)=.
ALL_CFLAGS := $(CSTD) $(WARN) $(OPT_$(V)) $(DET) -fvisibility=hidden -I. $(PKG_CFLAGS) $(CFLAGS)
LIBS     := $(PKG_LIBS) -ldl -lm

FOLDERS  := sim traces calib scheduler experiments
LIB_SRC  := $(filter-out experiments/main.c,$(wildcard $(FOLDERS:%=%/*.c) $(FOLDERS:%=%/*/*.c)))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
UNIT     := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c tests/oracle/test_*.c))

.PHONY: all unit clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:
all: $(if $(wildcard experiments/main.c),$(B)/cotenant)

$(B)/libcotenant.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $^
$(B)/cotenant: $(B)/experiments/main.o $(B)/libcotenant.a
	$(CC) $(OPT_$(V)) $(LDFLAGS) -o $@ $^ $(LIBS)
$(B)/tests/%: $(B)/tests/%.o $(B)/libcotenant.a
	$(CC) $(OPT_$(V)) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' > $@
FORCE:
-include $(LIB_OBJ:.o=.d) $(B)/experiments/main.d $(UNIT:=.d)

unit: all $(UNIT)
	@for t in $(UNIT); do $(EXEC) $$t || exit 1; done
clean:
	rm -rf build
