/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of commands are read, executed and answered. */
#include "conversation.h"

#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 14 };

/* What was read and is not taken yet: bytes[start .. end), without a newline before `seen`. */
struct input {
    int fd;
    char *bytes;
    size_t room, start, seen, end;
};

/* Replies that are not sent yet. */
struct output {
    int fd;
    char *bytes;
    size_t room, length;
};

bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Makes room for so many bytes. */
static bool reserve(char **bytes, size_t *room, size_t needed)
{
    if (needed <= *room) {
        return true;
    }
    size_t larger = needed > 2 * *room ? needed : 2 * *room;
    char *moved = realloc(*bytes, larger);
    if (moved) {
        *bytes = moved;
        *room = larger;
    }
    return moved != NULL;
}

/* Reads more; false at the end. What interrupts reading is the subject's own affair. */
static bool read_more(struct input *in)
{
    memmove(in->bytes, in->bytes + in->start, in->end - in->start);
    in->end -= in->start;
    in->seen -= in->start;
    in->start = 0;
    if (!reserve(&in->bytes, &in->room, in->end + ROOM)) {
        return false;
    }
    ssize_t got;
    do {
        got = read(in->fd, in->bytes + in->end, in->room - in->end - 1);
    } while (got < 0 && errno == EINTR);
    in->end += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* The next line without its end; NULL where there is none. It stands until the next one is taken. */
static char *take_line(struct input *in)
{
    char *line;
    char *end;
    while (!(end = memchr(in->bytes + in->seen, '\n', in->end - in->seen))) {
        in->seen = in->end;
        if (!read_more(in)) {
            break;
        }
    }
    if (!end && in->start == in->end) {
        return NULL;
    }
    line = in->bytes + in->start;
    end = end ? end : in->bytes + in->end; /* the last line may lack its own */
    *end = '\0';
    in->start = (size_t)(end - in->bytes) + 1;
    in->start = in->start < in->end ? in->start : in->end;
    in->seen = in->start;
    return line;
}

/* Whether the next line has come, and runs nothing but the probe's own code. Names (@) are looked up by the dynamic
 * linker, which may run a library's.
 */
static bool own_line_follows(const struct input *in)
{
    const char *line = in->bytes + in->start;
    const char *end = memchr(line, '\n', in->end - in->start);
    if (!end || memchr(line, '@', (size_t)(end - line))) {
        return false;
    }
    return command_is_own(*line == '+' ? line + 1 : line);
}

static bool send_replies(struct output *out)
{
    bool sent = write_all(out->fd, out->bytes, out->length);
    out->length = 0;
    return sent;
}

/* Adds the reply to what is to be sent. */
static bool add_reply(struct output *out, const char *reply)
{
    size_t length = strlen(reply);
    if (!reserve(&out->bytes, &out->room, out->length + length + 1)) {
        return false;
    }
    memcpy(out->bytes + out->length, reply, length);
    out->length += length;
    out->bytes[out->length++] = '\n';
    return true;
}

static bool is_ok(const char *reply)
{
    return strncmp(reply, "ok", 2) == 0;
}

int converse(int in, int out, bool echo)
{
    struct input input = {in, calloc(1, ROOM), ROOM, 0, 0, 0};
    struct output output = {out, malloc(ROOM), ROOM, 0};
    size_t room = 4096;
    char *reply = malloc(room);
    bool refused = false; /* a line that begins with +, and `reply` says why */
    char *line = NULL;
    int code = 0;
    while (input.bytes && output.bytes && reply && (line = take_line(&input)) != NULL) {
        if (*line == '\0' || *line == '#') {
            continue;
        }
        if (echo) {
            printf("%.200s\n", line);
            fflush(stdout);
        }
        if (strncmp(line, "quit", 4) == 0 && (line[4] == '\0' || line[4] == ' ')) {
            code = (int)strtol(line + 4, NULL, 10);
            add_reply(&output, refused ? reply : "ok");
            break;
        }
        bool silent = *line == '+';
        if (!refused) {
            command_execute(line + silent, &reply, &room);
        }
        refused = silent && !is_ok(reply);
        if (!silent && !add_reply(&output, reply)) {
            break;
        }
        bool held = !echo && output.length <= ROOM && own_line_follows(&input);
        if (output.length > 0 && !held && !send_replies(&output)) {
            break;
        }
    }
    send_replies(&output);
    free(input.bytes);
    free(output.bytes);
    free(reply);
    commands_forget();
    return code;
}
