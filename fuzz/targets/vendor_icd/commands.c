/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on memory, and what waits for them. Host memory of a command is as large as the command says. */
#include "icd.h"

#include <string.h>

enum { MOST_BYTES = 4096 };

/* What ends each enqueueing call. */
struct tail {
    uint64_t count;
    uint64_t waits;
    uint64_t *event;
};

static struct tail tail(void)
{
    struct tail tail = {0};
    tail.waits = list_of(KIND_EVENT, 3, &tail.count);
    tail.event = take_chance(2) ? guarded(sizeof *tail.event) : NULL;
    return tail;
}

static void done(enum function function, uint64_t result, const struct tail *tail)
{
    cl_int code = checked(function, result);
    if (tail->event) {
        written(function, KIND_EVENT, *tail->event, code);
    }
}

/* Blocking calls are legal where what they wait for can end. */
static uint64_t blocking(void)
{
    bool blocks = take_chance(2);
    if (blocks) {
        settle();
    }
    return blocks;
}

void enqueue_buffer(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *buffer = one_of(KIND_MEM);
    if (!queue || !buffer) {
        return;
    }
    enum function function = take_chance(2) ? FUNCTION_clEnqueueWriteBuffer : FUNCTION_clEnqueueReadBuffer;
    uint64_t offset = number((unsigned)buffer->size);
    uint64_t size = number((unsigned)buffer->size);
    /* What lies outside of the buffer must be refused before anybody looks at host memory. */
    uint64_t host = take_chance(24) ? 0 : AT(guarded(size <= MOST_BYTES ? size : 16));
    struct tail t = tail();
    uint64_t blocks = blocking();
    done(function,
         ICD(function, queue->handle, buffer->handle, blocks, offset, size, host, t.count, t.waits, AT(t.event)), &t);
}

void enqueue_copy(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *from = one_of(KIND_MEM);
    if (!queue || !from) {
        return;
    }
    uint64_t offsets[] = {number((unsigned)from->size), number((unsigned)from->size)};
    uint64_t size = number((unsigned)from->size);
    struct tail t = tail();
    done(FUNCTION_clEnqueueCopyBuffer,
         ICD_OF(clEnqueueCopyBuffer, queue->handle, from->handle, some(KIND_MEM), offsets[0], offsets[1], size, t.count,
                t.waits, AT(t.event)),
         &t);
}

static uint64_t *triple(unsigned usual)
{
    uint64_t *values = guarded(3 * sizeof *values);
    for (int i = 0; i < 3; i++) {
        values[i] = number(usual);
    }
    return values;
}

/* Host memory is dense and begins at its origin, so that its size is known; unless the region is refused anyhow. */
static uint64_t dense(const uint64_t *region, size_t element)
{
    bool small = region[0] <= 32 && region[1] <= 32 && region[2] <= 32;
    uint64_t size = small ? region[0] * region[1] * region[2] * element : 16;
    return AT(size <= 4UL * MOST_BYTES ? guarded(size) : keep(size));
}

void enqueue_rectangle(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *buffer = one_of(KIND_MEM);
    if (!queue || !buffer) {
        return;
    }
    uint64_t *origin = triple(8);
    uint64_t *region = triple(8);
    uint64_t pitches[] = {number(64), number(512), number(64), number(512)};
    struct tail t = tail();
    if (take_chance(3)) {
        done(FUNCTION_clEnqueueCopyBufferRect,
             ICD_OF(clEnqueueCopyBufferRect, queue->handle, buffer->handle, some(KIND_MEM), AT(origin), AT(triple(8)),
                    AT(region), pitches[0], pitches[1], pitches[2], pitches[3], t.count, t.waits, AT(t.event)),
             &t);
        return;
    }
    enum function function = take_chance(2) ? FUNCTION_clEnqueueWriteBufferRect : FUNCTION_clEnqueueReadBufferRect;
    uint64_t *host_origin = guarded(3 * sizeof *host_origin);
    uint64_t blocks = blocking();
    done(function,
         ICD(function, queue->handle, buffer->handle, blocks, AT(origin), AT(host_origin), AT(region), pitches[0],
             pitches[1], 0, 0, dense(region, 1), t.count, t.waits, AT(t.event)),
         &t);
}

void enqueue_fill(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *mem = one_of(KIND_MEM);
    if (!queue || !mem) {
        return;
    }
    if (mem->element && icd_has(FUNCTION_clEnqueueFillImage)) {
        uint64_t color = AT(guarded(16));
        uint64_t *origin = triple(8);
        uint64_t *region = triple(16);
        struct tail t = tail();
        done(FUNCTION_clEnqueueFillImage,
             ICD_OF(clEnqueueFillImage, queue->handle, mem->handle, color, AT(origin), AT(region), t.count, t.waits,
                    AT(t.event)),
             &t);
        return;
    }
    static const uint8_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 0, 3, 129};
    uint64_t size = sizes[take_below(sizeof sizes)];
    uint64_t offset = number((unsigned)mem->size);
    uint64_t bytes = number((unsigned)mem->size);
    struct tail t = tail();
    done(FUNCTION_clEnqueueFillBuffer,
         ICD_OF(clEnqueueFillBuffer, queue->handle, mem->handle, take_chance(24) ? 0 : AT(guarded(size)), size, offset,
                bytes, t.count, t.waits, AT(t.event)),
         &t);
}

void enqueue_image(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *image = one_of(KIND_MEM);
    if (!queue || !image || !image->element) {
        return;
    }
    enum function function = take_chance(2) ? FUNCTION_clEnqueueWriteImage : FUNCTION_clEnqueueReadImage;
    uint64_t *origin = triple(4);
    uint64_t *region = triple(16);
    uint64_t host = dense(region, image->element);
    struct tail t = tail();
    uint64_t blocks = blocking();
    done(function,
         ICD(function, queue->handle, image->handle, blocks, AT(origin), AT(region), 0, 0, host, t.count, t.waits,
             AT(t.event)),
         &t);
}

void enqueue_image_copy(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *from = one_of(KIND_MEM);
    if (!queue || !from) {
        return;
    }
    uint64_t to = some(KIND_MEM);
    uint64_t *origin = triple(4);
    uint64_t *region = triple(16);
    uint64_t offset = number(64);
    struct tail t = tail();
    switch (take_below(3)) {
    case 0:
        done(FUNCTION_clEnqueueCopyImage,
             ICD_OF(clEnqueueCopyImage, queue->handle, from->handle, to, AT(origin), AT(triple(4)), AT(region), t.count,
                    t.waits, AT(t.event)),
             &t);
        break;
    case 1:
        done(FUNCTION_clEnqueueCopyImageToBuffer,
             ICD_OF(clEnqueueCopyImageToBuffer, queue->handle, from->handle, to, AT(origin), AT(region), offset,
                    t.count, t.waits, AT(t.event)),
             &t);
        break;
    default:
        done(FUNCTION_clEnqueueCopyBufferToImage,
             ICD_OF(clEnqueueCopyBufferToImage, queue->handle, from->handle, to, offset, AT(origin), AT(region),
                    t.count, t.waits, AT(t.event)),
             &t);
        break;
    }
}

/* What was mapped can be read from its first byte to its last. */
static void touch(const volatile char *memory, uint64_t size)
{
    for (uint64_t i = 0; i<size; i += size> 1 ? size - 1 : 1) {
        (void)memory[i];
    }
}

void enqueue_map(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    struct object *mem = one_of(KIND_MEM);
    if (!queue || !mem) {
        return;
    }
    cl_int *code = guarded(sizeof *code);
    uint64_t flags = take_chance(12) ? take_long() : 1U << take_below(3);
    uint64_t address;
    uint64_t size = number((unsigned)mem->size);
    enum function function = mem->element ? FUNCTION_clEnqueueMapImage : FUNCTION_clEnqueueMapBuffer;
    settle();
    if (mem->element) {
        uint64_t *origin = triple(4);
        uint64_t *region = triple(16);
        uint64_t *pitches = guarded(2 * sizeof *pitches);
        address = ICD_OF(clEnqueueMapImage, queue->handle, mem->handle, CL_TRUE, flags, AT(origin), AT(region),
                         AT(pitches), take_chance(8) ? 0 : AT(pitches + 1), 0, 0, 0, AT(code));
        size = 1;
    } else {
        uint64_t offset = number((unsigned)mem->size);
        address =
            ICD_OF(clEnqueueMapBuffer, queue->handle, mem->handle, CL_TRUE, flags, offset, size, 0, 0, 0, AT(code));
    }
    if (checked(function, (uint64_t)*code) != CL_SUCCESS) {
        return;
    }
    if (!address) {
        wrong(function, "success-without-object", "it answered NULL together with CL_SUCCESS");
    } else if (size > mem->size && !mem->element) {
        wrong(function, "outside", "it mapped what lies outside of the buffer");
    } else {
        touch((const volatile char *)(uintptr_t)address, size);
        note_mapping(mem, queue->handle, address);
    }
}

void enqueue_synchronization(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    if (!queue) {
        return;
    }
    struct tail t = tail();
    uint64_t count;
    uint64_t list;
    switch (take_below(3)) {
    case 0:
        if (icd_has(FUNCTION_clEnqueueMarkerWithWaitList)) {
            done(FUNCTION_clEnqueueMarkerWithWaitList,
                 ICD_OF(clEnqueueMarkerWithWaitList, queue->handle, t.count, t.waits, AT(t.event)), &t);
        }
        break;
    case 1:
        if (icd_has(FUNCTION_clEnqueueBarrierWithWaitList)) {
            done(FUNCTION_clEnqueueBarrierWithWaitList,
                 ICD_OF(clEnqueueBarrierWithWaitList, queue->handle, t.count, t.waits, AT(t.event)), &t);
        }
        break;
    default:
        list = list_of(KIND_MEM, 3, &count);
        if (icd_has(FUNCTION_clEnqueueMigrateMemObjects)) {
            uint64_t flags = take_chance(8) ? take_long() : take_below(4);
            done(FUNCTION_clEnqueueMigrateMemObjects,
                 ICD_OF(clEnqueueMigrateMemObjects, queue->handle, count, list, flags, t.count, t.waits, AT(t.event)),
                 &t);
        }
        break;
    }
}

void enqueue_svm(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    uint64_t address;
    size_t size;
    if (!queue || !one_svm(&address, &size)) {
        return;
    }
    size_t bytes = take_below((unsigned)size + 1);
    struct tail t = tail();
    uint64_t blocks = blocking();
    if (take_chance(2)) {
        done(FUNCTION_clEnqueueSVMMemcpy,
             ICD_OF(clEnqueueSVMMemcpy, queue->handle, blocks, address, AT(guarded(bytes)), bytes, t.count, t.waits,
                    AT(t.event)),
             &t);
        return;
    }
    static const uint8_t patterns[] = {1, 2, 4, 8, 16, 32, 64, 128, 0, 3};
    uint64_t pattern = patterns[take_below(sizeof patterns)];
    done(FUNCTION_clEnqueueSVMMemFill,
         ICD_OF(clEnqueueSVMMemFill, queue->handle, address, AT(guarded(pattern)), pattern, bytes, t.count, t.waits,
                AT(t.event)),
         &t);
}

void wait_for_commands(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    settle();
    if (take_chance(2)) {
        uint64_t count;
        uint64_t list = list_of(KIND_EVENT, 4, &count);
        checked(FUNCTION_clWaitForEvents, ICD_OF(clWaitForEvents, count, list));
    } else if (queue) {
        enum function function = take_chance(2) ? FUNCTION_clFinish : FUNCTION_clFlush;
        checked(function, ICD(function, queue->handle));
    }
}
