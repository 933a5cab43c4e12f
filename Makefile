# SPDX-License-Identifier: GPL-3.0-or-later
# One non-recursive Makefile. Every variant has its own tree build/$(V), so that
# `make asan` never invalidates the release objects. `make help` lists the targets.
#
#	make V=asan test-run      the tests in one variant, nothing installed before
#	make EXEC='valgrind -q' TESTS=build/release/tests/unit/test_err test-run
VERSION  := 0.1.0
V        ?= release
B        ?= build/$(V)
PREFIX   ?= /usr/local
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_TIME ?= 30

# ---- variants: compiler and flags
VARIANTS := release strict clang debug asan ubsan coverage fuzz
ifeq ($(filter $(V),$(VARIANTS)),)
$(error unknown variant V='$(V)', want one of $(VARIANTS))
endif
ifeq ($(origin CC),default)
CC       := $(if $(filter clang ubsan fuzz,$(V)),clang,gcc)
endif
SAN      := -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT_release  := -O2 -g -DNDEBUG
OPT_strict   := -O2 -g -DNDEBUG
OPT_clang    := -O2 -g -DNDEBUG
OPT_debug    := -O0 -g3
OPT_asan     := -O1 -g -fsanitize=address,undefined $(SAN)
OPT_ubsan    := -O1 -g -fsanitize=undefined $(SAN)
OPT_coverage := -O0 -g --coverage -fprofile-update=atomic
OPT_fuzz     := -O1 -g -fsanitize=fuzzer-no-link,address,undefined $(SAN)
# Not in the instrumented variants: gcc warns falsely there, and says so.
WERROR   ?= $(if $(or $(filter strict clang,$(V)),$(and $(CI),$(filter release debug,$(V)))),1)

# Evaluated at first use, not when this file is read: `make demo` installs first.
PKGS       := gsl hdf5 zlib yaml-0.1 libcrypto libarchive
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null))$(PKG_LIBS)

# XGBoost has no pkg-config file in Debian; without it the predictor xgb says so.
HAVE_XGBOOST ?= $(wildcard /usr/include/xgboost/c_api.h)
XGB_CFLAGS := $(if $(HAVE_XGBOOST),-DHAVE_XGBOOST)
XGB_LIBS   := $(if $(HAVE_XGBOOST),-lxgboost)
# GLPK has none either; without it tests are skipped, and `repro` knows no ceiling.
HAVE_GLPK  ?= $(wildcard /usr/include/glpk.h)
GLPK_CFLAGS := $(if $(HAVE_GLPK),-DHAVE_GLPK)
GLPK_LIBS  := $(if $(HAVE_GLPK),-lglpk)

CSTD     := -std=c17 -D_GNU_SOURCE
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wvla -Wformat=2 -Wundef -Wwrite-strings -Wpointer-arith $(if $(WERROR),-Werror)
# No contraction: the same doubles from every compiler and level. No paths: the
# same objects from every directory.
DET      := -ffp-contract=off -ffile-prefix-map=$(CURDIR)=.
ALL_CFLAGS = $(CSTD) $(WARN) $(OPT_$(V)) $(DET) -fvisibility=hidden -I. -I$(B)/gen $(XGB_CFLAGS) $(GLPK_CFLAGS) $(PKG_CFLAGS) $(CFLAGS)
# One short line a step; VERBOSE=1 shows the commands.
Q        := $(if $(VERBOSE),,@)
say        = @$(if $(VERBOSE),:,printf '  %-4s %s\n' $(1) $@)
LINK       = $(Q)$(CC) $(OPT_$(V)) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)
LIBS       = $(PKG_LIBS) $(XGB_LIBS) $(GLPK_LIBS) -ldl -lm

# ---- what there is to build
FOLDERS  := sim traces calib scheduler experiments
PLUGINS  := $(wildcard scheduler/example/*.c tests/unit/plugins/*.c)
LIB_SRC  := $(filter-out experiments/main.c $(PLUGINS),$(wildcard $(FOLDERS:%=%/*.c) $(FOLDERS:%=%/*/*.c)))
TEST_SRC := $(wildcard tests/oracle/test_*.c tests/golden/test_*.c tests/unit/test_*.c)
HELP_SRC := $(filter-out $(TEST_SRC),$(wildcard tests/oracle/*.c tests/unit/*.c))
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
SCRIPT_TEST := $(wildcard tests/oracle/*.sh tests/cli/*.sh)
SOURCES  := $(LIB_SRC) $(TEST_SRC) $(HELP_SRC) $(FUZZ_SRC) $(BENCH_SRC) $(PLUGINS) experiments/main.c

LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
PROGRAM  := $(B)/cotenant
PLUG     := $(PLUGINS:%.c=$(B)/%.so)
TEST     := $(TEST_SRC:%.c=$(B)/%)
FUZZ     := $(FUZZ_SRC:%.c=$(B)/%)
REPLAY   := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=$(B)/tests/fuzz/replay_%)
BENCH    := $(BENCH_SRC:%.c=$(B)/%)
# The long ones first. The scripts that compare figures with other engines' say nothing
# more under a sanitizer, at several times the price.
TESTS    ?= $(if $(filter asan ubsan,$(V)),,$(filter tests/oracle/%,$(SCRIPT_TEST))) $(TEST) $(REPLAY) $(filter tests/cli/%,$(SCRIPT_TEST))
# A sub-make shares the job slots of its parent, or gets JOBS of its own.
SUBMAKE   = +@$(MAKE) --no-print-directory $(if $(filter -j% --jobs%,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: all demo test check ci asan ubsan coverage valgrind fuzz oracle regress bench install uninstall format tidy clean help
.PHONY: test-run fuzz-build bench-build everything FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM) $(PLUG) ## build build/release/cotenant (default)

# ---- rules
$(PROGRAM): $(B)/experiments/main.o $(B)/libcotenant.a
	$(call say,LINK)
	$(LINK) $(LIBS)
$(B)/libcotenant.a: $(LIB_OBJ) $(B)/sources
	@rm -f $@
	@$(AR) rcsD $@ $(LIB_OBJ)
$(B)/libtesthelp.a: $(HELP_SRC:%.c=$(B)/%.o) $(B)/sources
	@rm -f $@
	@$(AR) rcsD $@ $(HELP_SRC:%.c=$(B)/%.o)
$(TEST): $(B)/%: $(B)/%.o $(B)/libtesthelp.a $(B)/libcotenant.a
	$(call say,LINK)
	$(LINK) -lcmocka $(LIBS)
# Functions that a benchmark puts a stop watch around.
WRAP_bench_elastico := esp_tatonnement iac_update iac_fixed iac_reply iac_joint pack_scan pack_find pack_find_shared \
                       pds_rounds admit adapt adapt_measure
$(BENCH): $(B)/%: $(B)/%.o $(B)/libcotenant.a
	$(call say,LINK)
	$(LINK) $(WRAP_$(@F):%=-Wl,--wrap=ct_%) $(LIBS)
$(FUZZ): $(B)/%: $(B)/%.o $(B)/libcotenant.a
	$(call say,LINK)
	$(LINK) -fsanitize=fuzzer $(LIBS)
$(REPLAY): $(B)/tests/fuzz/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/house/replay.o $(B)/libcotenant.a
	$(call say,LINK)
	$(LINK) $(LIBS)
$(B)/%.o: %.c $(B)/flags | $(B)/gen/revision.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
# A plug-in sees the installed header and nothing else of ours.
$(B)/%.so: %.c scheduler/policy.h $(B)/flags | $(B)/gen/cotenant/policy.h
	@mkdir -p $(@D)
	$(call say,PLUG)
	$(Q)$(CC) $(CSTD) $(WARN) $(OPT_$(V)) -I$(B)/gen -I. $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<
$(B)/gen/cotenant/policy.h: scheduler/policy.h
	@mkdir -p $(@D); ln -sf $(abspath $<) $@

# The three generated files are rewritten only when their content changes: flags
# rebuild everything, the revision only the file that prints it.
write_if_changed = @mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) > $@
$(B)/flags: FORCE
	@pkg-config --exists $(PKGS) 2>/dev/null || { sh tests/house/packages.sh --missing build; exit 1; }
	$(call write_if_changed,'$(CC) $(shell $(CC) -dumpfullversion -dumpversion 2>/dev/null) $(ALL_CFLAGS) $(LDFLAGS)')
$(B)/sources: FORCE
	$(call write_if_changed,'$(LIB_SRC) $(HELP_SRC)')
REVISION = $(shell sh tests/house/revision.sh)
$(B)/gen/revision.h: FORCE
	$(call write_if_changed,'#define CT_VERSION "$(VERSION)"' '#define CT_REVISION "$(REVISION)"' \
	  '#define CT_PREFIX "$(PREFIX)"' '#define CT_BUILD "$(V) $(OPT_$(V)) $(CFLAGS)"')
FORCE:
-include $(SOURCES:%.c=$(B)/%.d) $(B)/tests/house/replay.d

# ---- the two commands of the README
demo: ## replay one day on 64 GPUs under three policies: table and figure
	@sh tests/house/packages.sh build
	$(SUBMAKE) all
	@sh tests/house/demo.sh $(PROGRAM)
test: ## unit, oracle and command-line tests; last line: N passed, N failed, N skipped
	@sh tests/house/packages.sh build test
	$(SUBMAKE) test-run
test-run: $(PROGRAM) $(PLUG) $(filter $(B)/%,$(TESTS))
	@COTENANT=$(abspath $(PROGRAM)) PLUGIN_DIR=$(abspath $(B)) EXEC='$(EXEC)' JOBS=$(JOBS) \
	  bash tests/house/test.sh $(TESTS)

# ---- before a commit, and the machine's turn
CHECKS := format spdx headers includes warnings install determinism readme sanitizers
check: ## what to run before a commit: warnings, format, headers, determinism, README, sanitizers
	@sh tests/house/packages.sh build test demo check
	@for c in $(CHECKS); do bash tests/house/$$c.sh || exit 1; done
ci: ## everything .ci/run does
	@bash .ci/run
asan: ## the tests under the address and undefined-behaviour sanitizers of gcc
	@sh tests/house/packages.sh build test
	$(SUBMAKE) V=asan test-run
ubsan: ## the tests under the undefined-behaviour sanitizer of clang
	@sh tests/house/packages.sh build test check
	$(SUBMAKE) V=ubsan test-run
coverage: ## the tests with gcov; lines and branches a folder, untested functions
	@sh tests/house/packages.sh build test check
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	$(SUBMAKE) V=coverage test-run
	@bash tests/house/coverage.sh
valgrind: ## the unit tests under memcheck
	@sh tests/house/packages.sh build test check
	$(SUBMAKE) V=debug TEST_TIMEOUT=600 EXEC='valgrind -q --error-exitcode=99 --leak-check=full' \
	  TESTS='$(patsubst %.c,build/debug/%,$(filter tests/unit/%,$(TEST_SRC)))' test-run
fuzz: ## every fuzz target for FUZZ_TIME seconds (30), two at a time
	@sh tests/house/packages.sh build check
	$(SUBMAKE) V=fuzz fuzz-build
	@FUZZ_TIME=$(FUZZ_TIME) bash tests/house/fuzz.sh $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)
fuzz-build: $(FUZZ)
oracle: ## only the tests against theory, brute force and other engines
	@sh tests/house/packages.sh build test
	$(SUBMAKE) TESTS='$(filter $(B)/tests/oracle/%,$(TEST)) $(filter tests/oracle/%,$(SCRIPT_TEST))' test-run
regress: ## the reproduced figures against their recorded state
	@sh tests/house/packages.sh build
	$(SUBMAKE) all
	$(PROGRAM) repro all --seeds 3 -j 2 --check experiments/paper/recorded.csv
bench: ## speed on one page; BENCH_FLAGS=--quick leaves the large runs out, --strict fails on a missed limit
	@sh tests/house/packages.sh build
	$(SUBMAKE) bench-build
	@for t in $(filter $(B)/tests/bench/bench_%,$(BENCH)) $(wildcard tests/bench/*.sh); do \
	  case $$t in *.sh) set -- bash $$t $(BENCH_FLAGS) ;; *) set -- $$t ;; esac; \
	  COTENANT=$(abspath $(PROGRAM)) BENCH_DIR=$(abspath $(B))/tests/bench "$$@" || exit 1; done
bench-build: $(PROGRAM) $(BENCH)
everything: $(PROGRAM) $(PLUG) $(TEST) $(REPLAY) $(BENCH)
format: ## clang-format, in place
	@clang-format -i $(wildcard $(SOURCES) $(FOLDERS:%=%/*.h) $(FOLDERS:%=%/*/*.h) tests/*/*.h tests/house/*.c)
tidy: ## cppcheck, when it is there
	@bash tests/house/tidy.sh

# ---- installation: the program, the one header, its pkg-config file, the data
BINDIR   = $(DESTDIR)$(PREFIX)/bin
INCDIR   = $(DESTDIR)$(PREFIX)/include/cotenant
PCDIR    = $(DESTDIR)$(PREFIX)/lib/pkgconfig
DATADIR  = $(DESTDIR)$(PREFIX)/share/cotenant
DOCDIR   = $(DESTDIR)$(PREFIX)/share/doc/cotenant
# Data files keep their place below the root, so that the program finds them by
# the same names in the source tree and installed.
DATA    := $(wildcard experiments/*/*.yaml experiments/*/*.sbatch experiments/*/*.csv experiments/*/*.csv.gz experiments/*.yaml \
             traces/*/*.csv calib/*/*.csv calib/*/*.yaml calib/*/*.h5 plots/*.gp plots/*.css plots/*.html scheduler/example/*.c)
install: $(PROGRAM) ## install below DESTDIR and PREFIX (/usr/local)
	install -d $(BINDIR) $(INCDIR) $(PCDIR) $(DATADIR) $(DOCDIR)
	install -m 755 $(PROGRAM) $(BINDIR)/cotenant
	install -m 644 scheduler/policy.h $(INCDIR)/policy.h
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scheduler/cotenant.pc.in > $(PCDIR)/cotenant.pc
	chmod 644 $(PCDIR)/cotenant.pc
	@for f in $(DATA); do install -D -m 644 $$f $(DATADIR)/$$f || exit 1; done
	install -m 644 LICENSE README.md $(DOCDIR)
uninstall: ## remove what install put there
	rm -f $(BINDIR)/cotenant $(INCDIR)/policy.h $(PCDIR)/cotenant.pc
	rm -rf $(DATADIR) $(DOCDIR)
	-rmdir $(INCDIR) 2>/dev/null
clean: ## remove build/
	rm -rf build
help: ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "%-10s %s\n", $$1, $$2}' Makefile
