/* A fork in C: the least that a process as large as its caller can cost. */
#include <Python.h>

#include <sys/wait.h>
#include <unistd.h>

static PyObject *fork_and_wait(PyObject *self, PyObject *unused)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

static PyObject *fork_alone(PyObject *self, PyObject *unused)
{
    pid_t pid = fork();
    return pid < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromLong(pid);
}

static PyMethodDef methods[] = {
    {"fork", fork_alone, METH_NOARGS, "Fork as os.fork does, without Python's handlers."},
    {"fork_and_wait", fork_and_wait, METH_NOARGS, "Fork a child that exits at once, and wait."},
    {NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "cfork", .m_methods = methods};

PyMODINIT_FUNC PyInit_cfork(void) { return PyModule_Create(&module); }
