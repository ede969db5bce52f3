/*
 * The usual way of a step, compiled: what usual.py does, in few lines of memory. usual.py is the specification; the tests run on both.
 *
 * All of it runs with the GIL held. An error in here is cleared, and the step goes the other way (StepRecorder), which counts what fails; an error
 * of the engine's own methods is passed on. The one write through a pointer is in `append`, which checks for room before it.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pythread.h>
#include <structmember.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef Py_GIL_DISABLED
#error "The compiled probe counts on the GIL; without one usual.py is taken."
#endif

#define NUMBERS 12
#define ROW_BYTES (NUMBERS * 8)
/* Rows that lie together before they are put away: the same few pages of memory for all. */
#define ROWS 32
/* As recorder.SHIP_ROWS. */
#define SHIP_ROWS 512

/* A step's two methods. */
enum { SCHEDULE, UPDATE, METHODS };

/* What every step reads comes first, line by line of memory in the order it is read in. */
typedef struct {
    PyObject_HEAD
    /* What was found of a scheduler, so that it is not looked for in each step, and its class's version then; 0 where it was not found. */
    PyObject *scheduler;
    PyObject *attributes;
    PyObject *parents[METHODS];
    unsigned int version;
    int count;
    char on;
    long long rows, alike, step_count;
    PyObject *queue;
    PyObject *first;
    /* When a step last began or ended; read without the GIL. */
    long long last;
    long long step, start, end, free_blocks, base, kv_batch, held;
    PyObject *second;
    long long second_start, second_end, second_free;
    /* Where one of the last results had its outputs. */
    PyTypeObject *result_type;
    Py_ssize_t outputs_at;
    PyObject *kept;
    unsigned char buffer[ROWS * ROW_BYTES];
} Steps;

/* A scheduler, as far as it is ours. */
typedef struct {
    PyObject_HEAD
    PyObject *recorder;
} Way;

static PyObject *name_running, *name_requests, *name_total, *name_new, *name_free, *name_finished, *name_outputs, *name_methods[METHODS],
    *name_ways[METHODS], *name_output, *zero;
static PyTypeObject steps_type, way_type;

/* ---- the recorder's part */

static PyObject *steps_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Steps *steps = (Steps *)type->tp_alloc(type, 0);
    if (steps == NULL) {
        return NULL;
    }
    steps->queue = Py_NewRef(Py_None);
    steps->first = Py_NewRef(Py_None);
    steps->second = Py_NewRef(Py_None);
    steps->rows = steps->alike = steps->base = steps->kv_batch = -1;
    steps->kept = PyList_New(0);
    if (steps->kept == NULL) {
        Py_DECREF(steps);
        return NULL;
    }
    return (PyObject *)steps;
}

static int steps_traverse(Steps *steps, visitproc visit, void *arg) {
    Py_VISIT(steps->scheduler);
    Py_VISIT(steps->attributes);
    Py_VISIT(steps->parents[SCHEDULE]);
    Py_VISIT(steps->parents[UPDATE]);
    Py_VISIT(steps->result_type);
    Py_VISIT(steps->queue);
    Py_VISIT(steps->first);
    Py_VISIT(steps->second);
    Py_VISIT(steps->kept);
    return 0;
}

/* Forgets what was found of a scheduler. */
static void forget(Steps *steps) {
    steps->version = 0;
    Py_CLEAR(steps->scheduler);
    Py_CLEAR(steps->attributes);
    Py_CLEAR(steps->parents[SCHEDULE]);
    Py_CLEAR(steps->parents[UPDATE]);
}

static int steps_clear(Steps *steps) {
    forget(steps);
    Py_CLEAR(steps->result_type);
    Py_CLEAR(steps->queue);
    Py_CLEAR(steps->first);
    Py_CLEAR(steps->second);
    Py_CLEAR(steps->kept);
    return 0;
}

static void steps_dealloc(Steps *steps) {
    PyObject_GC_UnTrack(steps);
    steps_clear(steps);
    Py_TYPE(steps)->tp_free((PyObject *)steps);
}

/* Puts the rows of the buffer behind what is kept. -1 with an error where there is no memory: they stay then. */
static int seal(Steps *steps) {
    if (steps->count == 0) {
        return 0;
    }
    if (steps->kept == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "cleared");
        return -1;
    }
    PyObject *rows = PyBytes_FromStringAndSize((char *)steps->buffer, (Py_ssize_t)steps->count * ROW_BYTES);
    if (rows == NULL) {
        return -1;
    }
    int failed = PyList_Append(steps->kept, rows);
    Py_DECREF(rows);
    if (failed == 0) {
        steps->count = 0;
    }
    return failed;
}

static PyObject *steps_put_aside(Steps *steps, PyObject *row) {
    if (steps->kept == NULL || PyList_Append(steps->kept, row) < 0) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_RuntimeError, "cleared");
    }
    steps->held++;
    Py_RETURN_NONE;
}

static PyObject *steps_put(Steps *steps, PyObject *row) {
    return seal(steps) < 0 ? NULL : steps_put_aside(steps, row);
}

static PyObject *steps_take(Steps *steps, PyObject *unused) {
    PyObject *empty = PyList_New(0);
    if (empty == NULL || seal(steps) < 0 || steps->kept == NULL) {
        Py_XDECREF(empty);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_RuntimeError, "cleared");
    }
    PyObject *taken = steps->kept;
    steps->kept = empty;
    steps->held = 0;
    return taken;
}

static PyMethodDef steps_methods[] = {
    {"_put", (PyCFunction)steps_put, METH_O, "Keeps a row behind those that are kept."},
    {"_put_aside", (PyCFunction)steps_put_aside, METH_O, "Keeps a row before those of the buffer."},
    {"_take", (PyCFunction)steps_take, METH_NOARGS, "All rows that are kept, in their order; none is kept from here on."},
    {NULL, NULL, 0, NULL}};

static PyMemberDef steps_members[] = {
    {"on", T_BOOL, offsetof(Steps, on), 0, NULL},
    {"step_count", T_LONGLONG, offsetof(Steps, step_count), 0, NULL},
    {"_rows", T_LONGLONG, offsetof(Steps, rows), 0, NULL},
    {"_alike", T_LONGLONG, offsetof(Steps, alike), 0, NULL},
    {"_base", T_LONGLONG, offsetof(Steps, base), 0, NULL},
    {"_kv_batch", T_LONGLONG, offsetof(Steps, kv_batch), 0, NULL},
    {"_queue", T_OBJECT, offsetof(Steps, queue), 0, NULL},
    {"_first", T_OBJECT, offsetof(Steps, first), 0, NULL},
    {"_step", T_LONGLONG, offsetof(Steps, step), 0, NULL},
    {"_start", T_LONGLONG, offsetof(Steps, start), 0, NULL},
    {"_end", T_LONGLONG, offsetof(Steps, end), 0, NULL},
    {"_free", T_LONGLONG, offsetof(Steps, free_blocks), 0, NULL},
    {"_second", T_OBJECT, offsetof(Steps, second), 0, NULL},
    {"_second_start", T_LONGLONG, offsetof(Steps, second_start), 0, NULL},
    {"_second_end", T_LONGLONG, offsetof(Steps, second_end), 0, NULL},
    {"_second_free", T_LONGLONG, offsetof(Steps, second_free), 0, NULL},
    {"_held", T_LONGLONG, offsetof(Steps, held), READONLY, NULL},
    {"_last", T_LONGLONG, offsetof(Steps, last), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyTypeObject steps_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tokenstair_probe._usual.UsualSteps",
    .tp_basicsize = sizeof(Steps),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = steps_new,
    .tp_dealloc = (destructor)steps_dealloc,
    .tp_traverse = (traverseproc)steps_traverse,
    .tp_clear = (inquiry)steps_clear,
    .tp_methods = steps_methods,
    .tp_members = steps_members};

/* ---- the part of the thread that sends */

static long long now(void) {
    struct timespec stamp;
    clock_gettime(CLOCK_MONOTONIC, &stamp);
    return (long long)stamp.tv_sec * 1000000000 + stamp.tv_nsec;
}

typedef struct {
    PyObject_HEAD
    PyThread_type_lock lock;
    char rung;
} Bell;

static PyTypeObject bell_type;

static PyObject *bell_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Bell *bell = (Bell *)type->tp_alloc(type, 0);
    if (bell == NULL) {
        return NULL;
    }
    bell->lock = PyThread_allocate_lock();
    if (bell->lock == NULL) {
        Py_DECREF(bell);
        return PyErr_NoMemory();
    }
    PyThread_acquire_lock(bell->lock, NOWAIT_LOCK);
    return (PyObject *)bell;
}

static void bell_dealloc(Bell *bell) {
    if (bell->lock != NULL) {
        PyThread_release_lock(bell->lock);
        PyThread_free_lock(bell->lock);
    }
    Py_TYPE(bell)->tp_free((PyObject *)bell);
}

static PyObject *bell_ring(Bell *bell, PyObject *unused) {
    if (!bell->rung) {
        bell->rung = 1;
        PyThread_release_lock(bell->lock);
    }
    Py_RETURN_NONE;
}

/* Looks without the GIL whether steps go on, as a thread that asks for the GIL costs many times what one does that does not. */
static PyObject *bell_rest(Bell *bell, PyObject *args) {
    long long rest, every, quiet;
    PyObject *recorder;
    if (!PyArg_ParseTuple(args, "LLLO", &rest, &every, &quiet, &recorder)) {
        return NULL;
    }
    Steps *steps = PyObject_TypeCheck(recorder, &steps_type) ? (Steps *)recorder : NULL;
    int rung, looks = 0;
    long long due;
    every = every < 0 ? 0 : every;
    rest = rest < 0 ? 0 : steps == NULL && rest > every ? every : rest;
    Py_BEGIN_ALLOW_THREADS
    long long stamp = now(), until = stamp + rest;
    for (;;) {
        due = until - stamp <= every ? until : stamp + every;
        looks++;
        rung = PyThread_acquire_lock_timed(bell->lock, due > stamp ? (due - stamp + 999) / 1000 : 0, 0) == PY_LOCK_ACQUIRED;
        stamp = now();
        if (rung || steps == NULL || due >= until || stamp >= until || stamp - __atomic_load_n(&steps->last, __ATOMIC_RELAXED) >= quiet) {
            break;
        }
    }
    Py_END_ALLOW_THREADS
    if (rung) {
        bell->rung = 0;
    }
    return Py_BuildValue("OLi", rung ? Py_True : Py_False, due, looks);
}

static PyMethodDef bell_methods[] = {
    {"ring", (PyCFunction)bell_ring, METH_NOARGS, "Ends the rest, or the next one."},
    {"rest", (PyCFunction)bell_rest, METH_VARARGS, "See usual.Bell."},
    {NULL, NULL, 0, NULL}};

static PyTypeObject bell_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tokenstair_probe._usual.Bell",
    .tp_basicsize = sizeof(Bell),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = bell_new,
    .tp_dealloc = (destructor)bell_dealloc,
    .tp_methods = bell_methods};

/* ---- the scheduler's part */

/* How many are in there; -1 with an error where that cannot be told. */
static long long length_of(PyObject *value) {
    if (value == NULL) {
        return -1;
    }
    return PyList_CheckExact(value) ? PyList_GET_SIZE(value) : PyDict_CheckExact(value) ? PyDict_GET_SIZE(value) : PyObject_Size(value);
}

/* An attribute that is a number; -1 with an error where it is none. */
static long long number_of(PyObject *of, PyObject *name) {
    PyObject *value = PyObject_GetAttr(of, name);
    if (value == NULL) {
        return -1;
    }
    long long number = PyLong_AsLongLong(value);
    Py_DECREF(value);
    return number;
}

/* Whether it is empty; an error is told as no. */
static int is_empty(PyObject *value) {
    if (value == NULL) {
        return 0;
    }
    return PyList_CheckExact(value) ? PyList_GET_SIZE(value) == 0 : PyAnySet_CheckExact(value) ? PySet_GET_SIZE(value) == 0 : PyObject_Not(value) == 1;
}

/* Of a scheduler: an attribute of its own, not one that a class makes. A borrowed reference, NULL where there is none. */
static PyObject *own(Steps *steps, PyObject *name) {
    return steps->attributes == NULL ? NULL : PyDict_GetItemWithError(steps->attributes, name);
}

static int begun(Steps *steps, PyObject *output, long long start, long long end) {
    long long rows = steps->rows;
    if (rows < 0 || length_of(own(steps, name_running)) != rows || length_of(own(steps, name_requests)) != rows
        || number_of(output, name_total) != rows || steps->queue == NULL) {
        return 0;
    }
    PyObject *fresh = PyObject_GetAttr(output, name_new);
    int none = is_empty(fresh);
    Py_XDECREF(fresh);
    if (!none) {
        return 0;
    }
    PyObject *queue = Py_NewRef(steps->queue);
    long long free_blocks = number_of(queue, name_free);
    Py_DECREF(queue);
    if (free_blocks == -1 && PyErr_Occurred()) {
        return 0;
    }
    if (steps->first == Py_None) {
        steps->step = steps->step_count;
        steps->start = start;
        steps->end = end;
        steps->free_blocks = free_blocks;
        steps->first = Py_NewRef(output);
        Py_DECREF(Py_None);
    } else if (steps->second == Py_None) {
        steps->second_start = start;
        steps->second_end = end;
        steps->second_free = free_blocks;
        steps->second = Py_NewRef(output);
        Py_DECREF(Py_None);
    } else {
        return 0;
    }
    steps->step_count++;
    return 1;
}

static int append(Steps *steps, long long start, long long end) {
    if (steps->held >= SHIP_ROWS || (steps->count >= ROWS && seal(steps) < 0)) {
        return 0;
    }
    const long long numbers[NUMBERS] = {
        steps->step, steps->start, steps->end, steps->alike, 0, steps->free_blocks, 0, -1, steps->base, start, end, steps->kv_batch};
    unsigned char *to = steps->buffer + (size_t)steps->count * ROW_BYTES;
    for (int i = 0; i < NUMBERS; i++) {
        uint64_t number = (uint64_t)numbers[i];
        for (int byte = 0; byte < 8; byte++) {
            to[8 * i + byte] = (unsigned char)(number >> (56 - 8 * byte));
        }
    }
    steps->count++;
    steps->held++;
    steps->kv_batch = -1;
    return 1;
}

/* Where instances of a class with slots have their outputs; 0 where it has none such. */
static Py_ssize_t outputs_of(PyTypeObject *type) {
    PyObject *slot = PyObject_GetAttr((PyObject *)type, name_outputs);
    Py_ssize_t at = 0;
    if (slot != NULL && type->tp_getattro == PyObject_GenericGetAttr && Py_IS_TYPE(slot, &PyMemberDescr_Type)
        && ((PyDescrObject *)slot)->d_type == type) {
        PyMemberDef *member = ((PyMemberDescrObject *)slot)->d_member;
        at = member->type == T_OBJECT_EX || member->type == T_OBJECT ? member->offset : 0;
    }
    Py_XDECREF(slot);
    PyErr_Clear();
    return at;
}

/* How many outputs there are; -1 with an error where that cannot be told. */
static long long count_outputs(Steps *steps, PyObject *mine) {
    PyTypeObject *type = Py_TYPE(mine);
    if (type != steps->result_type) {
        Py_XSETREF(steps->result_type, (PyTypeObject *)Py_NewRef((PyObject *)type));
        steps->outputs_at = outputs_of(type);
    }
    if (steps->outputs_at > 0) {
        PyObject *outputs = *(PyObject **)((char *)mine + steps->outputs_at);
        if (outputs != NULL && PyList_CheckExact(outputs)) {
            return PyList_GET_SIZE(outputs);
        }
    }
    PyObject *outputs = PyObject_GetAttr(mine, name_outputs);
    long long count = length_of(outputs);
    Py_XDECREF(outputs);
    return count;
}

static int ended(Steps *steps, PyObject *output, PyObject *result, long long start, long long end) {
    if (steps->first != output || !PyDict_Check(result) || !is_empty(own(steps, name_finished))) {
        return 0;
    }
    PyObject *mine = PyDict_GetItemWithError(result, zero);
    if (mine == NULL) {
        return 0;
    }
    Py_INCREF(mine);
    long long alike = count_outputs(steps, mine);
    Py_DECREF(mine);
    if (alike < 0 || alike != steps->alike || steps->first != output || !append(steps, start, end)) {
        return 0;
    }
    PyObject *done = steps->first;
    steps->first = steps->second;
    if (steps->second != Py_None) {
        steps->step++;
        steps->start = steps->second_start;
        steps->end = steps->second_end;
        steps->free_blocks = steps->second_free;
        steps->second = Py_NewRef(Py_None);
    } else {
        Py_INCREF(Py_None);
    }
    Py_DECREF(done);
    return 1;
}

/* What stands behind UsualWay in the order of the classes of `self`; as super() finds it. A new reference, NULL with an error. */
static PyObject *next_method(PyObject *self, PyObject *name, int *bound) {
    PyObject *order = Py_TYPE(self)->tp_mro;
    Py_ssize_t count = order == NULL ? 0 : PyTuple_GET_SIZE(order);
    int behind = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *owner = PyTuple_GET_ITEM(order, i);
        if (owner == (PyObject *)&way_type) {
            behind = 1;
        } else if (behind) {
            PyObject *names = ((PyTypeObject *)owner)->tp_dict;
            PyObject *method = names == NULL ? NULL : PyDict_GetItemWithError(names, name);
            if (method != NULL && PyFunction_Check(method)) {
                *bound = 0;
                return Py_NewRef(method);
            }
            if (method != NULL || names == NULL || PyErr_Occurred()) {
                break;
            }
        }
    }
    PyErr_Clear();
    PyObject *parent = PyObject_CallFunctionObjArgs((PyObject *)&PySuper_Type, (PyObject *)&way_type, self, NULL);
    if (parent == NULL) {
        return NULL;
    }
    PyObject *method = PyObject_GetAttr(parent, name);
    Py_DECREF(parent);
    *bound = 1;
    return method;
}

#define FEW 8

/* Whether what is kept of a scheduler is of this one, and of its class as it is now: whoever changes a class or one that it is made of takes its version. */
static int is_known(Steps *steps, PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
#if PY_VERSION_HEX < 0x030C0000
    if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) {
        return 0;
    }
#endif
    return steps->scheduler == self && steps->version == type->tp_version_tag && steps->version != 0;
}

/* Keeps what is found of a scheduler. Where something is not, it is looked for in every step. */
static void know(Steps *steps, PyObject *self) {
    forget(steps);
    int bound[METHODS] = {0};
    PyObject *attributes = PyObject_GenericGetDict(self, NULL);
    PyObject *schedule = next_method(self, name_methods[SCHEDULE], &bound[SCHEDULE]);
    PyObject *update = next_method(self, name_methods[UPDATE], &bound[UPDATE]);
    PyErr_Clear();
    Py_XSETREF(steps->attributes, attributes);
    if (schedule != NULL && update != NULL && !bound[SCHEDULE] && !bound[UPDATE] && attributes != NULL) {
        steps->parents[SCHEDULE] = schedule;
        steps->parents[UPDATE] = update;
        steps->scheduler = Py_NewRef(self);
        steps->version = Py_TYPE(self)->tp_version_tag;
    } else {
        Py_XDECREF(schedule);
        Py_XDECREF(update);
    }
}

static PyObject *call_next(PyObject *self, Steps *steps, int which, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    int bound = 0;
    if (steps != NULL && !is_known(steps, self)) {
        know(steps, self);
    }
    PyObject *method = steps != NULL && steps->version != 0 ? Py_NewRef(steps->parents[which]) : next_method(self, name_methods[which], &bound);
    if (method == NULL) {
        return NULL;
    }
    PyObject *few[FEW];
    PyObject **all = few;
    Py_ssize_t every = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    if (every + 1 > FEW) {
        all = PyMem_New(PyObject *, every + 1);
        if (all == NULL) {
            Py_DECREF(method);
            return PyErr_NoMemory();
        }
    }
    all[0] = self;
    for (Py_ssize_t i = 0; i < every; i++) {
        all[i + 1] = args[i];
    }
    PyObject *result = bound ? PyObject_Vectorcall(method, all + 1, (size_t)count, names)
                             : PyObject_Vectorcall(method, all, (size_t)count + 1, names);
    if (all != few) {
        PyMem_Free(all);
    }
    Py_DECREF(method);
    return result;
}

/* The recorder of a scheduler if it is on; a new reference, NULL without an error where there is none. */
static Steps *recorder_of(PyObject *self) {
    PyObject *recorder = ((Way *)self)->recorder;
    if (recorder == NULL || !((Steps *)recorder)->on) {
        return NULL;
    }
    return (Steps *)Py_NewRef(recorder);
}

/* The other way. What it does not catch itself is no Exception, such as KeyboardInterrupt, and is passed on. */
static int other_way(Steps *recorder, PyObject *name, PyObject *output, PyObject *result, long long start, long long end) {
    PyErr_Clear();
    PyObject *begin = PyLong_FromLongLong(start), *finish = PyLong_FromLongLong(end), *done = NULL;
    if (begin != NULL && finish != NULL) {
        done = result == NULL ? PyObject_CallMethodObjArgs((PyObject *)recorder, name, output, begin, finish, NULL)
                              : PyObject_CallMethodObjArgs((PyObject *)recorder, name, output, result, begin, finish, NULL);
    }
    Py_XDECREF(begin);
    Py_XDECREF(finish);
    if (done != NULL) {
        Py_DECREF(done);
        return 0;
    }
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        return 0;
    }
    return -1;
}

static PyObject *way_schedule(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Steps *recorder = recorder_of(self);
    if (recorder == NULL) {
        return call_next(self, recorder, SCHEDULE, args, count, names);
    }
    long long start = now();
    PyObject *output = call_next(self, recorder, SCHEDULE, args, count, names);
    if (output != NULL) {
        long long end = now();
        __atomic_store_n(&recorder->last, end, __ATOMIC_RELAXED);
        if (!begun(recorder, output, start, end) && other_way(recorder, name_ways[SCHEDULE], output, NULL, start, end) < 0) {
            Py_CLEAR(output);
        }
    }
    Py_DECREF(recorder);
    return output;
}

static PyObject *way_update(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *output = count > 0 ? args[0] : NULL;
    if (output == NULL && names != NULL) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name_output) == 0) {
                output = args[i];
            }
        }
        PyErr_Clear();
    }
    Steps *recorder = output == NULL ? NULL : recorder_of(self);
    if (recorder == NULL) {
        return call_next(self, recorder, UPDATE, args, count, names);
    }
    long long start = now();
    PyObject *result = call_next(self, recorder, UPDATE, args, count, names);
    if (result != NULL) {
        long long end = now();
        __atomic_store_n(&recorder->last, end, __ATOMIC_RELAXED);
        if (!ended(recorder, output, result, start, end)
            && other_way(recorder, name_ways[UPDATE], output, result, start, end) < 0) {
            Py_CLEAR(result);
        }
    }
    Py_DECREF(recorder);
    return result;
}

static PyObject *way_recorder(Way *self, void *unused) {
    return Py_NewRef(self->recorder == NULL ? Py_None : self->recorder);
}

static int way_set_recorder(Way *self, PyObject *value, void *unused) {
    if (value == NULL || value == Py_None) {
        Py_CLEAR(self->recorder);
        return 0;
    }
    if (!PyObject_TypeCheck(value, &steps_type)) {
        PyErr_SetString(PyExc_TypeError, "not a recorder");
        return -1;
    }
    Py_XSETREF(self->recorder, Py_NewRef(value));
    return 0;
}

static int way_traverse(Way *self, visitproc visit, void *arg) {
    Py_VISIT(self->recorder);
    return 0;
}

static int way_clear(Way *self) {
    Py_CLEAR(self->recorder);
    return 0;
}

static void way_dealloc(Way *self) {
    PyObject_GC_UnTrack(self);
    way_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyGetSetDef way_members[] = {
    {"_tokenstair", (getter)way_recorder, (setter)way_set_recorder, "The recorder of this scheduler, or None.", NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef way_methods[] = {
    {"schedule", (PyCFunction)(void (*)(void))way_schedule, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"update_from_output", (PyCFunction)(void (*)(void))way_update, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static PyTypeObject way_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tokenstair_probe._usual.UsualWay",
    .tp_basicsize = sizeof(Way),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_dealloc = (destructor)way_dealloc,
    .tp_traverse = (traverseproc)way_traverse,
    .tp_clear = (inquiry)way_clear,
    .tp_getset = way_members,
    .tp_methods = way_methods};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_usual", .m_size = -1};

PyMODINIT_FUNC PyInit__usual(void) {
    const struct {
        PyObject **name;
        const char *text;
    } names[] = {
        {&name_running, "running"}, {&name_requests, "requests"}, {&name_total, "total_num_scheduled_tokens"}, {&name_new, "scheduled_new_reqs"},
        {&name_free, "num_free_blocks"}, {&name_finished, "finished_req_ids"}, {&name_outputs, "outputs"}, {&name_methods[SCHEDULE], "schedule"},
        {&name_methods[UPDATE], "update_from_output"}, {&name_ways[SCHEDULE], "scheduled"}, {&name_ways[UPDATE], "updated"},
        {&name_output, "scheduler_output"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *names[i].name = PyUnicode_InternFromString(names[i].text);
        if (*names[i].name == NULL) {
            return NULL;
        }
    }
    zero = PyLong_FromLong(0);
    way_type.tp_new = PyBaseObject_Type.tp_new;
    if (zero == NULL || PyType_Ready(&steps_type) < 0 || PyType_Ready(&way_type) < 0 || PyType_Ready(&bell_type) < 0) {
        return NULL;
    }
    PyObject *made = PyModule_Create(&module);
    if (made == NULL || PyModule_AddObjectRef(made, "Bell", (PyObject *)&bell_type) < 0
        || PyModule_AddObjectRef(made, "UsualSteps", (PyObject *)&steps_type) < 0
        || PyModule_AddObjectRef(made, "UsualWay", (PyObject *)&way_type) < 0) {
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}
