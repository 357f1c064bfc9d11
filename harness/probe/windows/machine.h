/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/* What the subject finds on its machine, from a file that the case wrote (harness/sandbox/windows.py). A line each;
 * KEY, NAME, DATA, FAMILY and PATH are bytes in hexadecimal ("-" for none), texts among them UTF-8, DATA as the
 * registry has it:
 *
 *   value KEY NAME TYPE DATA        a value of the registry; KEY begins with HKLM\ or HKCU\
 *   key KEY                         a key without values
 *   deny KEY                        a key that nobody may open
 *   adapter LOW HIGH KERNEL DXGI    a display adapter, its LUID in two parts: whether the kernel lists it, and its place
 *                                   in DXGI's order, or -1
 *   adapter-value NAME TYPE DATA    a value of the software key of the adapter before
 *   adapter-translated NAME TYPE DATA  the same value for who has the path translated into one that this process can open
 *   adapter-trait TRAIT             of the adapter before: "undescribed": DXGI cannot describe it; "late": it comes when
 *                                   the number of adapters was asked for; "headless": it has no outputs; "unreadable": the
 *                                   kernel tells the size of a value, and then fails, with the value left behind
 *   device CLASS PROBLEM PARENT     a device of the configuration manager: display, component or other; the number of
 *                                   its problem, 0 for none; the number of the device above it, -1 for none
 *   device-value NAME TYPE DATA     a value of the software key of the device before
 *   device-trait TRAIT              of the device before: "waits" for a restart while it works; "gone": it is listed, and
 *                                   cannot be found; "silent": its state cannot be had; "absent": not plugged in;
 *                                   "late": it comes when the length of the list was asked for; "solved": its problem is
 *                                   over, and only the number of it is told still; "measured": values of its driver go
 *                                   when their length was asked for
 *   package FAMILY NAME PATH        an installed package
 *   package-trait TRAIT             of the package before: "gone": it is listed, and has no path any more; "late": it comes
 *                                   when the number of packages was asked for; "counted": it goes then; "measured": it goes
 *                                   when the length of its path was asked for, which the call that fails leaves behind
 *   no-packages                     a system without GetPackagesByPackageFamily and GetPackagePathByFullName
 *   integrity LEVEL                 of the process: 0x1000 low, 0x2000 medium, 0x2100 medium plus, 0x3000 high
 *   wow64                           a 32-bit process of a 64-bit system, as far as the subject can ask
 *   older                           a system whose kernel lists no adapters: it has no D3DKMTEnumAdapters2 and relatives
 *   no-dxgi HOW                     DXGI makes no factory: its library is "absent", its functions are "missing", or they
 *                                   "fail"
 *   no-token                        the process cannot ask what it may do
 *   class-numbers                   the class of a device is told as a number of 16 bytes to who has no room for a text
 *   fails QUESTION                  the system fails to answer, with the answer left behind: "count-of-adapters" and
 *                                   "list-of-adapters" of the kernel, "length-of-devices" and "list-of-devices" of the
 *                                   configuration manager
 *   strict-paths                    LOAD_WITH_ALTERED_SEARCH_PATH is refused for a relative path, for which it is undefined
 *   heap WAY                        misuse of the subject's heap is a crash: past the "end" of blocks, or before their
 *                                   "front"
 *
 * The registry proper is one of its own for this process (registry.c): volatile keys, which RegOverridePredefKey puts
 * in the place of HKLM and HKCU. What is not in there is answered by functions that take the place of those that the
 * subject imports, or looks up (hooks.c): they behave as Microsoft's documentation says.
 */
/* clang-format on */
#ifndef CLHARNESS_PROBE_MACHINE_H
#define CLHARNESS_PROBE_MACHINE_H

/* clang-format off: the order is Windows' own */
#include <windows.h>
/* clang-format on */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_ADAPTERS = 64, MAX_DEVICES = 64, MAX_PACKAGES = 8, MAX_DENIED = 8, MAX_PACKAGE_PATH = 4096 };

struct adapter {
    LUID luid;
    bool kernel; /* listed by D3DKMTEnumAdapters… */
    int dxgi;    /* place in the order, or -1 */
    bool undescribed;
    bool late;
    bool headless;
    bool unreadable;
    long opened; /* how often it was listed or opened, and not closed */
    HKEY key;
    HKEY translated; /* values that differ where paths are translated */
};

enum device_class { DEVICE_DISPLAY, DEVICE_COMPONENT, DEVICE_OTHER };

struct device {
    enum device_class class;
    ULONG problem;
    int parent;
    bool waits;
    bool gone;
    bool silent;
    bool absent;
    bool late;
    bool solved;
    bool measured;
    WCHAR id[64];
    WCHAR key_path[64]; /* below the tree's root */
};

struct package {
    WCHAR family[256];
    WCHAR name[256];
    WCHAR path[MAX_PACKAGE_PATH];
    bool gone;
    bool late;
    bool counted;
    bool measured;
    bool removed; /* it was counted */
};

/* What the system may fail to answer. */
enum question {
    FAILS_NOTHING,
    FAILS_COUNT_OF_ADAPTERS,
    FAILS_LIST_OF_ADAPTERS,
    FAILS_LENGTH_OF_DEVICES,
    FAILS_LIST_OF_DEVICES,
};

struct machine {
    struct adapter adapters[MAX_ADAPTERS];
    unsigned adapter_count;
    struct device devices[MAX_DEVICES];
    unsigned device_count;
    struct package packages[MAX_PACKAGES];
    unsigned package_count;
    WCHAR denied[MAX_DENIED][128]; /* below HKEY_LOCAL_MACHINE */
    unsigned denied_count;
    DWORD integrity;
    bool wow64;
    bool older;
    bool packages_missing;
    bool dxgi_absent;
    bool dxgi_missing;
    bool dxgi_fails;
    bool no_token;
    bool class_numbers;
    bool strict_paths;
    enum question fails;
    enum { HEAP_OF_SYSTEM, HEAP_GUARDS_END, HEAP_GUARDS_FRONT } heap;
    HKEY root; /* of the volatile tree */
};

extern struct machine machine;

/* Executes one line. NULL, or what is wrong with it. */
const char *machine_line(char *line);

/* --- registry.c --- */

bool registry_open(void);
void registry_close(void);
/* Sets a value of "HKLM\…" or "HKCU\…", or makes the key where `name` is NULL. */
bool registry_set(const WCHAR *key, const WCHAR *name, DWORD type, const BYTE *data, DWORD size);
/* A key of the machine's own below the root, made where it is not there. */
HKEY registry_own_key(const WCHAR *path);
/* All keys and the names of their values, a line each; to be given to free(), or NULL. */
char *registry_text(void);

/* --- answers.c --- */

/* Whether a process of this integrity may not open a key of the machine in this way. */
bool registry_refuses(REGSAM access);
/* RegOpenKeyExW as the subject has it: views, and what is refused. */
LSTATUS WINAPI registry_open_key(HKEY parent, LPCWSTR path, DWORD options, REGSAM access, PHKEY key);

/* --- what the subject gives back that it does not have --- */

/* Counts a handle whose closing or use the system refuses: it was closed before, and might be another's by now; objects
 * that are released are counted alike. A handle that is none of any kind (0, -1) does no harm. */
void count_close(const void *handle, bool closed);
long closes_refused(void);

/* --- what the subject has not given back, of what is not a handle of the system --- */

/* Handles of adapters (adapters.c), references to DXGI's objects and its library (dxgi.c), libraries that were loaded
 * and not freed, and those of the system among them (loading.c), and blocks of a heap that is guarded (heap.c). */
long adapters_held(void);
long dxgi_held(void);
void dxgi_count(long more);
long libraries_held(void);
long system_libraries_held(void);
long blocks_held(void);

/* --- loading.c --- */

/* From now on what the subject frees is told in the call log: the process ends. */
void loading_ends(void);

/* --- hooks.c --- */

/* Puts our functions in the place of those that a library imports. */
void hooks_install(HMODULE library);

/* A function that stands in for the one of a name. */
struct hook {
    const char *name;
    FARPROC function;
    FARPROC *before; /* NULL, or what keeps the function that the subject imported */
};

/* The tables of the files below; the last row has no name. */
extern const struct hook adapter_hooks[];
extern const struct hook creation_hooks[];
extern const struct hook device_hooks[];
extern const struct hook dxgi_hooks[];
extern const struct hook heap_hooks[]; /* only where the machine has a heap of its own */
extern const struct hook library_hooks[];
extern const struct hook system_hooks[];

#define HOOK(name)                                   \
    {                                                \
#name, (FARPROC)(uintptr_t)hook_##name, NULL \
    }

#endif
