/* What memory.py lays out with: protection, a huge page, pins. Included by lockdown.c.
 *
 * Purely a matter of speed: whatever the kernel refuses stays as it is, and jobs just cost more.
 */
#include <linux/io_uring.h>
#include <sys/uio.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum { MOST_PINNED_RUNS = 1024, HUGE_PAGE = 2 << 20 };

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

/* An io_uring that is never used, with the pages as its registered buffers, is the way to pin. */
PyDoc_STRVAR(pin_doc,
"pin(runs)\n\nPins runs of pages, (address, length in bytes), for as long as this process lives.\n"
"Raises OSError where that is not to be had.");

static PyObject *pin(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *runs;
    struct iovec buffers[MOST_PINNED_RUNS];
    struct io_uring_params params;
    if (!PyArg_ParseTuple(args, "O", &runs)) return NULL;
    Py_ssize_t n = PySequence_Size(runs);
    if (n < 0) return NULL;
    if (n > MOST_PINNED_RUNS) n = MOST_PINNED_RUNS;
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long long address, length;
        PyObject *run = PySequence_GetItem(runs, i);
        int ok = run && PyArg_ParseTuple(run, "KK", &address, &length);
        Py_XDECREF(run);
        if (!ok) return NULL;
        buffers[i].iov_base = (void *)(uintptr_t)address;
        buffers[i].iov_len = (size_t)length;
    }
    memset(&params, 0, sizeof params);
    int ring = (int)syscall(NR_io_uring_setup, 1, &params); /* close-on-exec; jobs close it */
    if (ring < 0) return PyErr_SetFromErrno(PyExc_OSError);
    if (syscall(NR_io_uring_register, ring, IORING_REGISTER_BUFFERS, buffers, (unsigned)n)) {
        PyErr_SetFromErrno(PyExc_OSError);
        close(ring);
        return NULL;
    }
    Py_RETURN_NONE;
}
