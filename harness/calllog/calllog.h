/* SPDX-License-Identifier: Apache-2.0 */
/* The call log: one JSON line per event, appended to a shared memory-mapped file by every component of a case.
 *
 * The file outlives the process however it dies. Lines of all components and processes stand in one order: the
 * order in which they reserved their place. Python's reader is `harness.calllog.reader`.
 */
#ifndef CLHARNESS_CALLLOG_H
#define CLHARNESS_CALLLOG_H

#include <stddef.h>
#include <stdint.h>

enum { CALLLOG_LINE = 4096, CALLLOG_HEADER = 4096 };

/* A log opened by one component. All functions accept a log that failed to open and then do nothing. */
struct calllog {
    unsigned char *map;
    size_t size;
};

/* A line under construction; what does not fit is cut, and the line says so with "cut":1. */
struct calllog_line {
    size_t length;
    int depth; /* open objects */
    int cut;
    char text[CALLLOG_LINE];
};

/* Maps the log file at `path`, made by Python with its full size. Returns 0, or -1 with errno set. */
int calllog_open(struct calllog *log, const char *path);
void calllog_close(struct calllog *log);

/* Starts a line: {"t":<ns>,"th":"<thread>","who":"<component>","<event>":"<name>" (128 bytes of a name at most) */
void calllog_begin(struct calllog_line *line, const char *who, const char *event, const char *name);
/* ,"key":"0x…" */
void calllog_hex(struct calllog_line *line, const char *key, uint64_t value);
/* ,"key":"text" with everything but printable ASCII escaped as \u00XX, at most 512 bytes of it */
void calllog_string(struct calllog_line *line, const char *key, const char *text, size_t length);
/* ,"key":["0x…",…] */
void calllog_words(struct calllog_line *line, const char *key, const uint64_t *values, size_t count);
/* ,"key":{  and  } : members are written between with the functions above; 16 deep at most */
void calllog_open_object(struct calllog_line *line, const char *key);
void calllog_close_object(struct calllog_line *line);
/* Ends the line and appends it. */
void calllog_commit(struct calllog *log, struct calllog_line *line);

#endif
