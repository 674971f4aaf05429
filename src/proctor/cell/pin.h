/* Pinning the pages that every job writes to. Included once, by lockdown.c.
 *
 * A fork shares pages and copies each one on the first write, at the price of a page fault: most of
 * what a job costs. Pages that are pinned for I/O the kernel copies during the fork instead, a batch
 * at a time (mm/memory.c, copy_present_page), and the parent never faults on them either. An
 * io_uring that is never used, with the pages as its registered buffers, is the way to pin. Purely
 * a matter of speed: where io_uring is switched off, jobs just fault.
 */
#include <linux/io_uring.h>
#include <sys/uio.h>

enum { MOST_PINNED_RUNS = 1024 };

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
