/* What memory.py uses to lay out memory: protection, a huge page, pins. Included by lockdown.c.
 *
 * Purely a matter of speed: whatever the kernel refuses stays as it is, and jobs just cost more.
 */
#include <linux/io_uring.h>
#include <sys/uio.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum { MOST_SPANS = 1024, MOST_PAGES = 1 << 20, HUGE_PAGE = 2 << 20 };

/* Reads the first MOST_SPANS of a list of (address, length in bytes). Returns how many it has read, or
 * -1 with an exception. */
static Py_ssize_t read_spans(PyObject *list, struct iovec spans[MOST_SPANS])
{
    Py_ssize_t n = PySequence_Size(list);
    if (n > MOST_SPANS) n = MOST_SPANS;
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long long address, length;
        PyObject *span = PySequence_GetItem(list, i);
        int ok = span && PyArg_ParseTuple(span, "KK", &address, &length);
        Py_XDECREF(span);
        if (!ok) return -1;
        spans[i].iov_base = (void *)(uintptr_t)address;
        spans[i].iov_len = (size_t)length;
    }
    return n;
}

PyDoc_STRVAR(protect_doc,
"protect(address, length, protection)\n\nmprotect. Raises OSError.");

static PyObject *protect(PyObject *self, PyObject *args)
{
    (void)self;
    unsigned long long address, length;
    int protection;
    if (!PyArg_ParseTuple(args, "KKi", &address, &length, &protection)) return NULL;
    if (mprotect((void *)(uintptr_t)address, (size_t)length, protection))
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(interpreter_code_doc,
"interpreter_code() -> int\n\nReturns an address in the interpreter's code.");

static PyObject *interpreter_code(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    return PyLong_FromVoidPtr((void *)(uintptr_t)&PyObject_Call);
}

PyDoc_STRVAR(use_huge_page_doc,
"use_huge_page(address)\n\nPuts a huge page with the same content in place of 2 MiB of code, so that forks\n"
"find it mapped. Raises OSError.");

static PyObject *use_huge_page(PyObject *self, PyObject *args)
{
    (void)self;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "K", &address)) return NULL;
    void *code = (void *)(uintptr_t)address;
    char *room = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
    char *copy = room + -(uintptr_t)room % HUGE_PAGE;
    memcpy(copy, code, HUGE_PAGE);
    int failed = madvise(copy, HUGE_PAGE, MADV_COLLAPSE)
                 || mprotect(copy, HUGE_PAGE, PROT_READ | PROT_EXEC)
                 || mremap(copy, HUGE_PAGE, HUGE_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, code) != code;
    if (failed) PyErr_SetFromErrno(PyExc_OSError);
    munmap(room, 2 * HUGE_PAGE);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* Bits of a /proc/PID/pagemap entry (kernel: admin-guide/mm/pagemap). */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_OF_ONE (1ull << 56) /* in no other process */

/* Reads the pagemap entries of some spans of our memory, one after the other. Returns 0 or -1. */
static int read_pagemap(const struct iovec *spans, Py_ssize_t n, size_t page, uint64_t *entries)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), failed = fd < 0;
    for (Py_ssize_t i = 0; !failed && i < n; i++) {
        size_t size = spans[i].iov_len / page * sizeof *entries;
        off_t at = (off_t)((uintptr_t)spans[i].iov_base / page * sizeof *entries);
        failed = pread(fd, entries, size, at) != (ssize_t)size;
        entries += size / sizeof *entries;
    }
    if (fd >= 0) close(fd);
    return failed ? -1 : 0;
}

/* The addresses of pages that a child has made its own and that we have as well. */
static PyObject *addresses(const struct iovec *spans, Py_ssize_t n, size_t page,
                           const uint64_t *ours, const uint64_t *childs)
{
    const uint64_t own = PAGE_PRESENT | PAGE_OF_ONE;
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < n; i++)
        for (size_t at = 0; found && at < spans[i].iov_len; at += page, ours++, childs++) {
            if (!(*ours & PAGE_PRESENT) || (*childs & own) != own) continue;
            PyObject *address = PyLong_FromUnsignedLongLong((uintptr_t)spans[i].iov_base + at);
            if (!address || PyList_Append(found, address)) Py_CLEAR(found);
            Py_XDECREF(address);
        }
    return found;
}

PyDoc_STRVAR(pages_written_doc,
"pages_written(play, spans) -> list of addresses\n\nThe pages in these spans of memory, (address, length in\n"
"bytes), that a fork of this process makes its own by calling `play`. Raises OSError.");

static PyObject *pages_written(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *play, *list, *found = NULL;
    struct iovec spans[MOST_SPANS];
    if (!PyArg_ParseTuple(args, "OO", &play, &list)) return NULL;
    Py_ssize_t n = read_spans(list, spans);
    if (n < 0) return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 0;
    for (Py_ssize_t i = 0; i < n; i++) pages += spans[i].iov_len / page;
    if (pages > MOST_PAGES) {
        errno = E2BIG;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    /* Parent and child read their own entries, in C: Python would write to hundreds of pages. */
    size_t size = 2 * pages * sizeof(uint64_t);
    uint64_t *ours = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ours == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
    int status = -1;
    pid_t pid = read_pagemap(spans, n, page, ours) ? -1 : fork();
    if (pid == 0) {
        PyObject *done = PyObject_CallObject(play, NULL);
        _exit(done && !read_pagemap(spans, n, page, ours + pages) ? 0 : 1);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (pid > 0 && status) errno = ECANCELED; /* play has raised something */
    if (status) PyErr_SetFromErrno(PyExc_OSError);
    else found = addresses(spans, n, page, ours, ours + pages);
    munmap(ours, size);
    return found;
}

/* Pages are pinned by making them the registered buffers of an io_uring that is never used. */
PyDoc_STRVAR(pin_doc,
"pin(spans)\n\nPins spans of whole pages, (address, length in bytes), for as long as this process lives.\n"
"Raises OSError where that is not to be had.");

static PyObject *pin(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *list;
    struct iovec spans[MOST_SPANS];
    struct io_uring_params params;
    if (!PyArg_ParseTuple(args, "O", &list)) return NULL;
    Py_ssize_t n = read_spans(list, spans);
    if (n < 0) return NULL;
    memset(&params, 0, sizeof params);
    int ring = (int)syscall(NR_io_uring_setup, 1, &params); /* close-on-exec; jobs close it */
    if (ring < 0) return PyErr_SetFromErrno(PyExc_OSError);
    if (syscall(NR_io_uring_register, ring, IORING_REGISTER_BUFFERS, spans, (unsigned)n)) {
        PyErr_SetFromErrno(PyExc_OSError);
        close(ring);
        return NULL;
    }
    Py_RETURN_NONE;
}
