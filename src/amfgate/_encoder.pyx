# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: embedsignature=True, embedsignature.format=clinic, nonecheck=False, annotation_typing=False
"""The encoder, compiled: the twin of `_encoder_py.py`, byte for byte and error for error.

One object holds everything: the buffer (a bytes object that grows in place and is handed out without a copy), the
string table, the object table, the columns.  A value is written by one switch on its type; containers recurse in C,
which `max_depth` bounds.  What is needed once in a while is Python that both twins share (`_rare.py`).  The loops
over items and members keep the place in the buffer in a local variable and write the common scalars themselves; what
they call finds it in `self.p` and leaves it there.

Strings are found by pointer first: the name or text met last in this column, then a small cache of those met lately.
Then by a cheap hash over their length and some of their bytes, in a table of our own.  A client that could choose
strings to collide makes a probe run long, and past 32 probes the table is built again with the string's own, keyed
hash.

Objects are found by pointer.  An object with one reference belongs to the container it was found in and cannot be
met a second time, so it is only counted (`LAZY`), not hashed.  That holds while no code of the user's runs: a
property, a `default` function or an iterator can lead to anything.  Before one runs, `_wary` says so: those objects
are hashed after all, and all further ones at once (`careful`), and the lists and dicts that are open are read from
copies from there on.  Plain data pays for none of it.  Without a GIL all are hashed from the start.

Nor is a reference taken to such an object at once (`UNHELD`): while nothing but C reads plain data, nobody can take it
away, and in a large value a second walk to give the references back would cost as much as the first.  Whatever may let
Python run, by a call, the garbage collector or the making of an error, has `_hold` in front of it.

Where lists go as collections (`wrap_lists`), one list is two objects: the collection, found by the list's pointer, and
the array inside it, found by that pointer with the bit `INSIDE` set.

Whatever is passed on as a bare pointer is kept alive by something else: the object table, a frame, or a local variable
of type `object` that is there for nothing but that.

Where an error happens is known by the frames: one for each open container, with the place in it, written before
anything that can fail.  The path is made from them when an error is raised, and not before.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.datetime cimport import_datetime
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

import datetime as _datetime
import uuid as _uuid

from . import kinds as _kinds
from ._rare import (
    CLOSED,
    NeedsAvmPlus,
    alias_text,
    as_object,
    at_work,
    big_int,
    ecma_count,
    empty_name,
    entries,
    explained,
    failed_before,
    is_array,
    is_object,
    key_text,
    listed,
    mapped,
    members_of,
    milliseconds,
    not_at_work,
    packed,
    plain,
    reference_marker,
    row_of,
    rows_of,
    split,
    step,
    too_deep,
    too_long,
    too_long_for_amf0,
    too_long_for_key,
    too_many,
    too_many_externals,
    too_many_members,
    too_many_objects,
    unwrapped,
    utf8,
)
from ._wire import DEPTH_ALONE, DEPTH_CEILING, VECTOR_MARKERS, Limits, check_options
from .classes import ClassRegistry, default_registry
from .dataio import DataOutput
from .errors import EncodeError
from .types import EcmaArray, Rows, TypedObject

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(_MSC_VER)
      #include <stdlib.h>
      #define AMF_SWAP64(x) _byteswap_uint64(x)
      #define AMF_LIKELY(x) (x)
      #define AMF_NOINLINE __declspec(noinline)
    #else
      #define AMF_SWAP64(x) __builtin_bswap64(x)
      #define AMF_LIKELY(x) __builtin_expect(!!(x), 1)
      #define AMF_NOINLINE __attribute__((noinline))
    #endif
    #ifdef WORDS_BIGENDIAN
      #undef AMF_SWAP64
      #define AMF_SWAP64(x) (x)
    #endif
    #ifdef Py_GIL_DISABLED
      #define AMF_CAREFUL 1
    #else
      #define AMF_CAREFUL 0
    #endif

    static inline unsigned char *amf_put_double(unsigned char *p, double d) {
        uint64_t bits;
        memcpy(&bits, &d, 8);
        bits = AMF_SWAP64(bits);
        memcpy(p, &bits, 8);
        return p + 8;
    }

    /* A U29, AMF3 specification 1.3.1. */
    static inline unsigned char *amf_put_u29(unsigned char *p, uint32_t n) {
        if (AMF_LIKELY(n < 0x80)) { p[0] = (unsigned char)n; return p + 1; }
        if (n < 0x4000) {
            p[0] = (unsigned char)(n >> 7 | 0x80);
            p[1] = (unsigned char)(n & 0x7F);
            return p + 2;
        }
        if (n < 0x200000) {
            p[0] = (unsigned char)(n >> 14 | 0x80);
            p[1] = (unsigned char)((n >> 7 & 0x7F) | 0x80);
            p[2] = (unsigned char)(n & 0x7F);
            return p + 3;
        }
        p[0] = (unsigned char)(n >> 22 | 0x80);
        p[1] = (unsigned char)((n >> 15 & 0x7F) | 0x80);
        p[2] = (unsigned char)((n >> 8 & 0x7F) | 0x80);
        p[3] = (unsigned char)n;
        return p + 4;
    }

    static inline uint64_t amf_load64(const char *p) { uint64_t v; memcpy(&v, p, 8); return v; }
    static inline uint32_t amf_load32(const char *p) { uint32_t v; memcpy(&v, p, 4); return v; }

    /* Cheap, not keyed: length, both ends and the middle.  Long probes switch to the string's own hash. */
    static inline uint32_t amf_hash(const char *p, size_t n) {
        uint64_t a, b, h;
        if (n >= 8) {
            a = amf_load64(p);
            b = amf_load64(p + n - 8);
            if (n > 16) b ^= amf_load64(p + n / 2 - 4) * 0x9E3779B97F4A7C15u;
        } else if (n >= 4) {
            a = amf_load32(p);
            b = amf_load32(p + n - 4);
        } else {
            a = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n >> 1] << 8;
            b = (unsigned char)p[n - 1];
        }
        h = (a ^ (uint64_t)n * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
        h ^= b;
        h = (h ^ h >> 32) * 0xFF51AFD7ED558CCDu;  /* what differs in the last byte alone has to reach the lowest bits */
        return (uint32_t)(h >> 32);
    }

    /* Short copies inline: most strings are shorter than the call of memcpy is long.  Both ends, overlapping. */
    static inline void amf_copy(unsigned char *to, const char *from, size_t n) {
        if (n >= 8) {
            if (n <= 16) {
                uint64_t a = amf_load64(from), b = amf_load64(from + n - 8);
                memcpy(to, &a, 8);
                memcpy(to + n - 8, &b, 8);
            } else if (n <= 32) {
                uint64_t a = amf_load64(from), b = amf_load64(from + 8);
                uint64_t c = amf_load64(from + n - 16), d = amf_load64(from + n - 8);
                memcpy(to, &a, 8);
                memcpy(to + 8, &b, 8);
                memcpy(to + n - 16, &c, 8);
                memcpy(to + n - 8, &d, 8);
            } else {
                memcpy(to, from, n);
            }
        } else if (n >= 4) {
            uint32_t a = amf_load32(from), b = amf_load32(from + n - 4);
            memcpy(to, &a, 4);
            memcpy(to + n - 4, &b, 4);
        } else if (n) {
            to[0] = (unsigned char)from[0];
            to[n >> 1] = (unsigned char)from[n >> 1];
            to[n - 1] = (unsigned char)from[n - 1];
        }
    }

    static inline int amf_equal(const char *a, const char *b, size_t n) {
        if (n >= 8) {
            if (amf_load64(a) != amf_load64(b) || amf_load64(a + n - 8) != amf_load64(b + n - 8)) return 0;
            if (n <= 16) return 1;
            if (n > 32) return memcmp(a + 8, b + 8, n - 16) == 0;
            return amf_load64(a + 8) == amf_load64(b + 8) && amf_load64(a + n - 16) == amf_load64(b + n - 16);
        }
        if (n >= 4) return amf_load32(a) == amf_load32(b) && amf_load32(a + n - 4) == amf_load32(b + n - 4);
        return a[0] == b[0] && a[n >> 1] == b[n >> 1] && a[n - 1] == b[n - 1];
    }

    /* An int of one digit, which is nearly every int there is. */
    static inline int amf_small_int(PyObject *v, int64_t *out) {
    #if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact((PyLongObject *)v)) {
            *out = (int64_t)PyUnstable_Long_CompactValue((PyLongObject *)v);
            return 1;
        }
    #else
        Py_ssize_t size = Py_SIZE(v);
        if (size == 1) { *out = (int64_t)((PyLongObject *)v)->ob_digit[0]; return 1; }
        if (size == 0) { *out = 0; return 1; }
        if (size == -1) { *out = -(int64_t)((PyLongObject *)v)->ob_digit[0]; return 1; }
    #endif
        return 0;
    }

    /* Text as UTF-8, where it is at hand: ASCII, or what was made for an earlier call and is kept in the string. */
    static inline int amf_text(PyObject *s, const char **data, Py_ssize_t *size) {
        if (AMF_LIKELY(PyUnicode_IS_COMPACT_ASCII(s))) {
            *data = (const char *)((PyASCIIObject *)s + 1);
            *size = ((PyASCIIObject *)s)->length;
            return 1;
        }
    #ifndef Py_GIL_DISABLED
        if (PyUnicode_IS_COMPACT(s) && ((PyCompactUnicodeObject *)s)->utf8 != NULL) {
            *data = ((PyCompactUnicodeObject *)s)->utf8;
            *size = ((PyCompactUnicodeObject *)s)->utf8_length;
            return 1;
        }
    #endif
        return 0;
    }

    /* The same text in another object?  `known` is never "", and may be NULL.  Out of line, or it crowds the loops. */
    static AMF_NOINLINE int amf_same_text(PyObject *known, PyObject *text) {
        const char *a, *b;
        Py_ssize_t n, m;
        if (known == NULL || !amf_text(known, &a, &n) || !amf_text(text, &b, &m)) return 0;
        return n == m && amf_equal(a, b, (size_t)n);
    }

    /* PyDict_Next, inlined for the tables that nearly all dicts have (text for keys, not shared between instances): it
       is called for every member there is, and took a third of the time of a row.  How such a table lies in memory is
       no part of the C API, but the same in the versions named here (Include/internal/pycore_dict.h); when the module
       is loaded, both ways are compared.  In other versions, and where another thread may change the table, it is
       PyDict_Next that is called. */
    #if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
      #define AMF_KNOWS_DICTS 1
    #else
      #define AMF_KNOWS_DICTS 0
    #endif
    typedef struct {
        Py_ssize_t references;
        uint8_t log2_size, log2_index_bytes, kind;
        uint32_t version;
        Py_ssize_t usable, count;
        char indices[1];
    } amf_dict_keys;

    static inline int amf_next(PyObject *dict, Py_ssize_t *position, PyObject **key, PyObject **value) {
    #if AMF_KNOWS_DICTS
        amf_dict_keys *keys = (amf_dict_keys *)((PyDictObject *)dict)->ma_keys;
        if (AMF_LIKELY(((PyDictObject *)dict)->ma_values == NULL && keys->kind != 0)) {
            PyObject **entries = (PyObject **)(keys->indices + ((size_t)1 << keys->log2_index_bytes));
            Py_ssize_t at;
            for (at = *position; at < keys->count; at++) {
                if (AMF_LIKELY(entries[2 * at + 1] != NULL)) {
                    *key = entries[2 * at];
                    *value = entries[2 * at + 1];
                    *position = at + 1;
                    return 1;
                }
            }
            return 0;
        }
    #endif
        return PyDict_Next(dict, position, key, value);
    }

    /* Are the members of a dict read as they are? */
    static int amf_reads(PyObject *dict) {
        Py_ssize_t position = 0, known = 0;
        PyObject *key, *value, *same_key, *same_value;
        while (PyDict_Next(dict, &known, &same_key, &same_value)) {
            if (!amf_next(dict, &position, &key, &value)) return 0;
            if (key != same_key || value != same_value || position != known) return 0;
        }
        return !amf_next(dict, &position, &key, &value);
    }

    static inline PyTypeObject *amf_type(PyObject *v) { return Py_TYPE(v); }
    static inline int amf_shared(PyObject *v) { return Py_REFCNT(v) > 1; }
    #define AMF_SIZE(v) Py_SIZE(v)
    #define AMF_ITEMS(v, is_list) ((is_list) ? ((PyListObject *)(v))->ob_item : ((PyTupleObject *)(v))->ob_item)
    #define AMF_LIST_SIZE(v) PyList_GET_SIZE(v)
    #define AMF_LIST_ITEM(v, i) PyList_GET_ITEM(v, i)
    #define AMF_TUPLE_SIZE(v) PyTuple_GET_SIZE(v)
    #define AMF_TUPLE_ITEM(v, i) PyTuple_GET_ITEM(v, i)
    #define AMF_DICT_SIZE(v) PyDict_GET_SIZE(v)
    #define AMF_FLOAT(v) PyFloat_AS_DOUBLE(v)
    #define AMF_TZINFO(v) PyDateTime_DATE_GET_TZINFO(v)
    #define AMF_YEAR(v) PyDateTime_GET_YEAR(v)
    #define AMF_MONTH(v) PyDateTime_GET_MONTH(v)
    #define AMF_DAY(v) PyDateTime_GET_DAY(v)
    #define AMF_HOUR(v) PyDateTime_DATE_GET_HOUR(v)
    #define AMF_MINUTE(v) PyDateTime_DATE_GET_MINUTE(v)
    #define AMF_SECOND(v) PyDateTime_DATE_GET_SECOND(v)
    #define AMF_MICROSECOND(v) PyDateTime_DATE_GET_MICROSECOND(v)
    #define AMF_LENGTH(v) PyUnicode_GET_LENGTH(v)
    """
    ctypedef int (*visitproc)(PyObject *, void *) noexcept
    ctypedef int (*traverseproc)(PyObject *, visitproc, void *) noexcept
    ctypedef int (*inquiry)(PyObject *) noexcept
    ctypedef struct PyTypeObject:
        unsigned long tp_flags
        traverseproc tp_traverse
        inquiry tp_clear
    const int AMF_CAREFUL
    unsigned char *amf_put_double(unsigned char *p, double d) noexcept nogil
    unsigned char *amf_put_u29(unsigned char *p, uint32_t n) noexcept nogil
    uint32_t amf_hash(const char *p, size_t n) noexcept nogil
    void amf_copy(unsigned char *to, const char *source, size_t n) noexcept nogil
    bint amf_equal(const char *a, const char *b, size_t n) noexcept nogil
    uint64_t AMF_SWAP64(uint64_t x) noexcept nogil
    uint64_t amf_load64(const char *p) noexcept nogil
    bint amf_small_int(PyObject *v, int64_t *out) noexcept
    bint amf_text(PyObject *s, const char **data, Py_ssize_t *size) noexcept
    bint amf_same_text(PyObject *known, PyObject *text) noexcept
    int amf_next(PyObject *dict, Py_ssize_t *position, PyObject **key, PyObject **value) noexcept
    bint amf_reads(PyObject *dict) noexcept
    PyTypeObject *amf_type(PyObject *v) noexcept
    bint amf_shared(PyObject *v) noexcept
    Py_ssize_t AMF_SIZE(PyObject *v) noexcept
    PyObject **AMF_ITEMS(PyObject *v, bint is_list) noexcept
    Py_ssize_t AMF_LIST_SIZE(PyObject *v) noexcept
    PyObject *AMF_LIST_ITEM(PyObject *v, Py_ssize_t i) noexcept
    Py_ssize_t AMF_TUPLE_SIZE(PyObject *v) noexcept
    PyObject *AMF_TUPLE_ITEM(PyObject *v, Py_ssize_t i) noexcept
    Py_ssize_t AMF_DICT_SIZE(PyObject *v) noexcept
    double AMF_FLOAT(PyObject *v) noexcept
    PyObject *AMF_TZINFO(PyObject *v) noexcept
    int AMF_YEAR(PyObject *v) noexcept
    int AMF_MONTH(PyObject *v) noexcept
    int AMF_DAY(PyObject *v) noexcept
    int AMF_HOUR(PyObject *v) noexcept
    int AMF_MINUTE(PyObject *v) noexcept
    int AMF_SECOND(PyObject *v) noexcept
    int AMF_MICROSECOND(PyObject *v) noexcept
    Py_ssize_t AMF_LENGTH(PyObject *v) noexcept

cdef extern from "Python.h":
    PyTypeObject PyUnicode_Type, PyLong_Type, PyFloat_Type, PyList_Type, PyTuple_Type, PyDict_Type, PyBytes_Type
    PyTypeObject PyFrozenSet_Type, PyBool_Type
    const unsigned long Py_TPFLAGS_HEAPTYPE
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    void Py_INCREF(PyObject *)
    void Py_XINCREF(PyObject *)
    void Py_DECREF(PyObject *)
    void Py_XDECREF(PyObject *)
    PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t) except NULL
    int _PyBytes_Resize(PyObject **, Py_ssize_t)  # -1, and NULL for the pointer, when there is no memory
    PyObject *PyDict_GetItemWithError(PyObject *, PyObject *) except? NULL
    const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *) except NULL
    long long PyLong_AsLongLongAndOverflow(PyObject *, int *) except? -1
    Py_hash_t PyObject_Hash(PyObject *) except? -1
    PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *) except NULL
    list PyList_GetSlice(object, Py_ssize_t, Py_ssize_t)
    PyObject *PyTuple_New(Py_ssize_t) except NULL
    void PyTuple_SET_ITEM(PyObject *, Py_ssize_t, PyObject *)
    void PyObject_GC_UnTrack(PyObject *)
    int PyObject_GetBuffer(object, Py_buffer *, int) except -1
    void PyBuffer_Release(Py_buffer *)
    int PyBUF_C_CONTIGUOUS, PyBUF_FORMAT

import_datetime()

# Kinds as C numbers; kinds.py holds them for both twins.
cdef enum:
    UNDEFINED = 1
    INTEGER = 3
    NATURAL = 7
    UNKNOWN = 8
    BYTES = 9
    DATETIME = 10
    DATE = 11
    INVALID_DATE = 12
    XML = 13
    ELEMENT = 14
    ARRAY = 15
    VECTOR = 16
    LIST = 17
    ITERABLE = 18
    DICT = 19
    MAPPING = 20
    ECMA = 21
    TYPED = 22
    PLAN = 23
    DICTIONARY = 24
    ROWS = 25

if (
    _kinds.UNDEFINED, _kinds.INTEGER, _kinds.NATURAL, _kinds.UNKNOWN, _kinds.BYTES, _kinds.DATETIME, _kinds.DATE,
    _kinds.INVALID_DATE, _kinds.XML, _kinds.ELEMENT,
    _kinds.ARRAY, _kinds.VECTOR, _kinds.LIST, _kinds.ITERABLE, _kinds.DICT, _kinds.MAPPING, _kinds.ECMA,
    _kinds.TYPED, _kinds.PLAN, _kinds.DICTIONARY, _kinds.ROWS,
) != (
    UNDEFINED, INTEGER, NATURAL, UNKNOWN, BYTES, DATETIME, DATE,
    INVALID_DATE, XML, ELEMENT, ARRAY, VECTOR, LIST, ITERABLE, DICT, MAPPING, ECMA,
    TYPED, PLAN, DICTIONARY, ROWS,
):
    raise ImportError("amfgate._encoder was compiled for another version of amfgate")


cdef int check_dicts() except -1:
    """ImportError for a Python whose dicts `amf_next` reads wrongly."""
    sample = {}
    for size in range(300):
        if not amf_reads(<PyObject *>sample):
            raise ImportError("amfgate._encoder was compiled for another version of Python")
        sample[str(size)] = size
        if size % 3 == 0:
            del sample[str(size // 3 * 2)]
    sample[1] = 2
    if not amf_reads(<PyObject *>sample):
        raise ImportError("amfgate._encoder was compiled for another version of Python")
    return 0


check_dicts()

# How a container's places are named in a path; _rare.step knows the same numbers.
cdef enum:
    IN_ROOT = 0
    IN_LIST = 1
    IN_SEALED = 2
    IN_PAIRS = 3
    IN_ENTRIES = 5
    IN_SOURCE = 6
    IN_ROWS = 7

# The forms of a Plan; classes.py.
cdef enum:
    FORM_MEMBERS = 0
    FORM_WRAPPER = 1
    FORM_EXTERNAL = 2

cdef enum:
    # Limits of the format, as in _wire.py
    LENGTH_MAX = 0xFFFFFFF
    U29_MAX = 0x1FFFFFFF
    INT29_MIN = -0x10000000
    INT29_MAX = 0xFFFFFFF
    AMF0_SLOTS = 65536
    AMF0_KEY_MAX = 65535
    EXTERNAL_DEPTH = 32
    COLUMN_PLACES = 32
    COLUMN_DEPTHS = 16
    COLUMN_SAMPLE = 64
    COLUMN_WORTH = 8
    # Sizes of our own
    FIRST_BUFFER = 512
    MOST_EXPECTED = 65536
    SMALL_RESULT = 256
    MARGIN = 16  # room for a name's reference, and a marker with a double
    FIRST_TABLE = 64
    SPARE_SLOTS = 1024  # how much of a table is handed on to the next encoder
    SPARE_FRAMES = 64
    # Set in a kept pointer
    LAZY = 1  # whose object is not hashed
    UNHELD = 2  # to which there is no reference of ours yet
    TAGS = 3
    INSIDE = 2  # set in a hashed pointer: not the collection that a list goes as, but the array inside it
    FIRST_FRAMES = 16
    RECENT = 256  # strings met last, by pointer: as many as a wide row has keys and repeated values
    PROBES = 32  # how long a probe may run before the strings' own hash takes over
    ALWAYS = -1  # a tag: the items of an array
    NO_TAG = -(1 << 30)

cdef int64_t EXACT_INT = <int64_t>1 << 53
cdef int64_t NO_LIMIT = <int64_t>1 << 62

cdef PyTypeObject *DATETIME_TYPE = <PyTypeObject *><PyObject *>_datetime.datetime
cdef Py_ssize_t DEPTH = DEPTH_ALONE.max_depth
cdef Py_ssize_t DEPTH_MAX = DEPTH_CEILING
cdef object _UTC = _datetime.timezone.utc
cdef object _kind_of = _kinds.kind_of
cdef object _UUID = _uuid.UUID
cdef object _TIMEZONE = _datetime.timezone
cdef object _enum_value = _kinds._enum_value
cdef object _array_kind = _kinds.array_kind
cdef object _array_items = _kinds.array_items

cdef struct StringSlot:
    PyObject *text
    uint32_t hash
    uint32_t index

cdef struct Recent:
    PyObject *text
    uint32_t index

cdef struct ObjectSlot:
    PyObject *value
    uint32_t index

cdef struct Objects:
    # A table by identity.  `kept` has every object that took a slot, in the order of the slots, and holds a reference
    # to each that is not UNHELD.
    ObjectSlot *slots
    size_t mask
    size_t used
    PyObject **kept
    size_t count
    size_t room
    size_t hashed  # all kept ones before this are hashed, or never will be
    size_t lazy  # how many are LAZY
    size_t held  # none before this is UNHELD
    size_t numbered  # those at or past this number have no slot to refer to

cdef struct Column:
    # A place in the row: the rule of adaptive strings (_wire.py), and what was met here last.  Both texts are kept
    # alive by the string table, so that the same pointer is the same text.
    PyObject *key
    PyObject *text
    uint32_t key_index
    uint32_t text_index
    int64_t tag
    uint32_t seen
    uint32_t found
    bint looking

cdef struct Frame:
    PyObject *container  # what names the places: kept alive by the tables, or `owned`
    PyObject *value  # the container as the user knows it
    PyObject *owned
    PyObject *live  # the user's list or dict that is being read, until code of the user's runs
    PyObject *copy  # and what is read from then on
    Py_ssize_t place
    int mode
    bint settled  # neither this nor what is around it is read live

cdef struct Spare:
    # Memory of the encoder that was here before: the next one, which often comes at once, need not ask for it again.
    StringSlot *strings
    size_t string_mask
    Recent *recent
    PyObject **kept
    size_t room
    Column *columns
    Frame *frames
    Py_ssize_t frame_room

cdef Spare spare

# How large results have been lately, which is how large the next buffer is at first.
cdef Py_ssize_t expected = FIRST_BUFFER


cdef inline void let_go(PyObject *kept) noexcept:
    """Give up the reference of a kept pointer, if there is one."""
    if not <uintptr_t>kept & UNHELD:
        Py_XDECREF(<PyObject *>(<uintptr_t>kept & ~TAGS))


cdef void free_objects(Objects *table) noexcept:
    cdef Objects old = table[0]
    cdef size_t i
    memset(table, 0, sizeof(Objects))  # first: what is freed here may run code that comes back to us
    for i in range(old.count):
        let_go(old.kept[i])
    PyMem_Free(old.kept)
    PyMem_Free(old.slots)


cdef inline size_t place_of(PyObject *value) noexcept:
    return (<uintptr_t>value >> 4) * <uintptr_t>0x9E3779B97F4A7C15u >> 20


cdef int widen(Objects *table) except -1:
    """Make the table twice as large."""
    cdef size_t i, at
    cdef size_t size = (table.mask + 1) * 2 if table.slots != NULL else FIRST_TABLE
    cdef ObjectSlot *bigger = <ObjectSlot *>PyMem_Calloc(size, sizeof(ObjectSlot))
    if bigger == NULL:
        raise MemoryError()
    if table.slots != NULL:
        for i in range(table.mask + 1):
            if table.slots[i].value != NULL:
                at = place_of(table.slots[i].value) & (size - 1)
                while bigger[at].value != NULL:
                    at = (at + 1) & (size - 1)
                bigger[at] = table.slots[i]
        PyMem_Free(table.slots)
    table.slots = bigger
    table.mask = size - 1
    return 0


cdef int64_t find_or_add(Objects *table, PyObject *value, size_t index) except -2:
    """The slot of an object; -1 when it had none and is now at `index`."""
    cdef size_t at
    if table.used * 2 >= table.mask:
        widen(table)
    at = place_of(value) & table.mask
    while table.slots[at].value != NULL:
        if table.slots[at].value == value:
            return table.slots[at].index
        at = (at + 1) & table.mask
    table.slots[at].value = value
    table.slots[at].index = <uint32_t>index
    table.used += 1
    return -1


cdef inline int64_t find_object(Objects *table, PyObject *value) noexcept:
    """The slot of an object, or -1."""
    cdef size_t at
    if table.slots == NULL:
        return -1
    at = place_of(value) & table.mask
    while table.slots[at].value != NULL:
        if table.slots[at].value == value:
            return table.slots[at].index
        at = (at + 1) & table.mask
    return -1


cdef int hash_lazy_ones(Objects *table) except -1:
    """Objects that could not be met again now can be: code of the user's has run."""
    cdef size_t i
    for i in range(table.hashed, table.count):
        if <uintptr_t>table.kept[i] & LAZY:
            if i < table.numbered:
                find_or_add(table, <PyObject *>(<uintptr_t>table.kept[i] & ~TAGS), i)
            table.kept[i] = <PyObject *>(<uintptr_t>table.kept[i] & ~LAZY)
        table.hashed = i + 1
    table.lazy = 0
    return 0


cdef inline int keep(Objects *table, PyObject *value, bint lazy) except -1:
    """Give an object the next slot, and keep it alive: a lazy one by `hold`.  NULL takes a slot for no object."""
    if table.count == table.room:
        more_room(table)
    if lazy:
        table.lazy += 1
        value = <PyObject *>(<uintptr_t>value | (LAZY | UNHELD))
    else:
        Py_XINCREF(value)
    table.kept[table.count] = value
    table.count += 1
    return 0


cdef int hold(Objects *table) noexcept:
    """Take the references that were put off."""
    cdef size_t i
    for i in range(table.held, table.count):
        if <uintptr_t>table.kept[i] & UNHELD:
            table.kept[i] = <PyObject *>(<uintptr_t>table.kept[i] & ~UNHELD)
            Py_INCREF(<PyObject *>(<uintptr_t>table.kept[i] & ~TAGS))
    table.held = table.count
    return 0


cdef int more_room(Objects *table) except -1:
    cdef size_t room = table.room * 2 if table.room else FIRST_TABLE
    cdef PyObject **bigger = <PyObject **>PyMem_Realloc(table.kept, room * sizeof(PyObject *))
    if bigger == NULL:
        raise MemoryError()
    table.kept = bigger
    table.room = room
    return 0


cdef inline unsigned char *scalar3(unsigned char *p, PyObject *value, PyTypeObject *cls) noexcept:
    """Write an int of 29 bits, a float, None or a bool, in at most 9 bytes; NULL for anything else."""
    cdef int64_t number
    if cls == &PyLong_Type:
        if amf_small_int(value, &number) and INT29_MIN <= number <= INT29_MAX:
            p[0] = 0x04
            return amf_put_u29(p + 1, <uint32_t>number & U29_MAX)
        return NULL
    if cls == &PyFloat_Type:
        p[0] = 0x05
        return amf_put_double(p + 1, AMF_FLOAT(value))
    if value == Py_None:
        p[0] = 0x01
        return p + 1
    if cls == &PyBool_Type:
        p[0] = 0x03 if value == Py_True else 0x02
        return p + 1
    return NULL


cdef inline unsigned char *scalar0(unsigned char *p, PyObject *value, PyTypeObject *cls) noexcept:
    """The same in AMF0, for an int that a double holds exactly for sure."""
    cdef int64_t number
    if cls == &PyLong_Type:
        if amf_small_int(value, &number) and -EXACT_INT <= number <= EXACT_INT:
            p[0] = 0x00
            return amf_put_double(p + 1, <double>number)
        return NULL
    if cls == &PyFloat_Type:
        p[0] = 0x00
        return amf_put_double(p + 1, AMF_FLOAT(value))
    if value == Py_None:
        p[0] = 0x05
        return p + 1
    if cls == &PyBool_Type:
        p[0] = 0x01
        p[1] = value == Py_True
        return p + 2
    return NULL


cdef inline bint is_simple_date(PyObject *value, int kind) noexcept:
    """Is a date naive or in UTC, so that its tzinfo need not be asked?"""
    return kind == DATETIME and amf_type(value) == DATETIME_TYPE and (
        AMF_TZINFO(value) == Py_None or AMF_TZINFO(value) == <PyObject *>_UTC
    )


cdef Py_ssize_t nth_position(PyObject *members, Py_ssize_t place) noexcept:
    """Where `amf_next` goes on with the member at a place: in a copy it may be another position."""
    cdef Py_ssize_t position = 0
    cdef PyObject *key
    cdef PyObject *item
    while place > 0 and amf_next(members, &position, &key, &item):
        place -= 1
    return position


cdef bint is_harmless(PyTypeObject *cls, thing, payload) noexcept:
    """Is the plain value of a value made without code of the user's?"""
    return payload is _enum_value or type(thing) is _UUID or not cls.tp_flags & Py_TPFLAGS_HEAPTYPE


cdef bint usual(option, str one, str other, str third) noexcept:
    """Is an option one of its values?  `check_options` tells those that are not."""
    return option is one or option is other or option is third


@cython.final
cdef class Encoder:
    """Encode values one after another, as parts of one stream.

    Options are those of `amfgate.dumps`.  The tables of strings, objects and traits go on from call to call, as
    they do within a shared object or a packet's body.  After an EncodeError they no longer match what was
    returned, so the encoder refuses further work.
    """

    cdef readonly int version
    cdef object _classes, _default, _big_ints, _decimals
    cdef dict _kinds
    cdef int64_t _max_values
    cdef Py_ssize_t _max_depth
    cdef bint _adaptive
    # the buffer
    cdef PyObject *out
    cdef unsigned char *p
    cdef unsigned char *end
    # strings
    cdef StringSlot *strings
    cdef size_t string_mask
    cdef size_t string_used
    cdef uint32_t string_count
    cdef bint keyed
    cdef PyObject *met  # the text by which the table knows the string met last
    cdef dict _odd_strings  # with lone surrogates: text -> index
    cdef str _odd_text
    cdef bytes _odd_data
    cdef Recent *recent  # RECENT of them
    # objects and traits
    cdef Objects objects
    cdef Objects slots  # AMF0's
    cdef bint careful
    cdef dict _traits
    cdef int64_t traits_count
    cdef int64_t plain_traits  # of a dict, or -1
    cdef dict _made
    # the class of instances met last
    cdef PyTypeObject *plan_class
    cdef object _plan, _plan_extra
    cdef tuple _attributes, _names
    cdef int64_t plan_traits
    # where we are
    cdef Column *columns  # COLUMN_PLACES for each depth
    cdef int widths[COLUMN_DEPTHS + 1]  # how many of them are in use
    cdef Frame *frames
    cdef Py_ssize_t frame_room
    cdef Py_ssize_t level
    cdef Py_ssize_t base0  # the frames of the AMF0 value at work begin behind this one
    cdef int64_t values
    cdef int external
    cdef bint whole
    cdef int64_t repeats
    cdef int64_t repeated
    cdef bint wrapping  # arrays go as wrappers of this alias
    cdef bint inside  # but the next one is inside its wrapper already
    cdef object _wrapper
    cdef bint failed
    cdef bint busy
    cdef object _broken

    def __cinit__(
        self,
        *,
        version=3,
        classes=None,
        limits=None,
        strings="adaptive",
        default=None,
        big_ints="error",
        decimals="float",
    ):
        self._configure(version, classes, limits, strings, default, big_ints, decimals)
        self.plain_traits = -1
        self.slots.numbered = AMF0_SLOTS
        self.objects.numbered = <size_t>-1
        self.careful = AMF_CAREFUL
        if not AMF_CAREFUL:  # without a GIL, two could take it at once
            self.strings, self.string_mask, self.recent = spare.strings, spare.string_mask, spare.recent
            self.objects.kept, self.objects.room = spare.kept, spare.room
            self.columns = spare.columns
            self.frames, self.frame_room = spare.frames, spare.frame_room
            memset(&spare, 0, sizeof(Spare))
        if self.recent == NULL:
            self.recent = <Recent *>PyMem_Calloc(RECENT, sizeof(Recent))
            if self.recent == NULL:
                raise MemoryError()

    def __dealloc__(self):
        cdef size_t i
        cdef PyObject *text
        Py_XDECREF(self.out)
        self._drop_frames(0)
        if self.strings != NULL and self.string_used:
            for i in range(self.string_mask + 1):
                text = self.strings[i].text
                if text != NULL:
                    self.strings[i].text = NULL
                    self.recent[(<uintptr_t>text >> 4) & (RECENT - 1)].text = NULL
                    Py_DECREF(text)
        for i in range(self.objects.count):
            let_go(self.objects.kept[i])
        PyMem_Free(self.objects.slots)
        free_objects(&self.slots)
        # What was let go above may have made and dropped encoders of its own, so the place may be taken.
        if AMF_CAREFUL or spare.frames != NULL or self.frames == NULL or self.frame_room > SPARE_FRAMES:
            PyMem_Free(self.frames)
            PyMem_Free(self.columns)
            PyMem_Free(self.strings)
            PyMem_Free(self.recent)
            PyMem_Free(self.objects.kept)
            return
        spare.frames, spare.frame_room, spare.columns = self.frames, self.frame_room, self.columns
        spare.recent = self.recent
        if self.string_mask < SPARE_SLOTS:
            spare.strings, spare.string_mask = self.strings, self.string_mask
        else:
            PyMem_Free(self.strings)
        if self.objects.room <= SPARE_SLOTS:
            spare.kept, spare.room = self.objects.kept, self.objects.room
        else:
            PyMem_Free(self.objects.kept)

    def encode(self, value):
        """The bytes of one value.

        EncodeError when it cannot be sent exactly; its path starts at `$`, this value.
        """
        encoded = self._encode(value)
        self._hold()
        return encoded

    cdef object _encode(self, value):
        """The same, by an encoder that may be at its end: what it has met is not kept alive yet."""
        self._begin()
        try:
            if self.version == 3:
                self._value3(<PyObject *>value, NULL, 0)
            else:
                self._value0(<PyObject *>value)
        except BaseException as error:
            self._fail(error)
        return self._finish()

    def encode_body(self, value, *, avmplus, arguments=False, counted=True, whole=False, repeats=0, wrap_lists=None):
        """The value of one body or header of a remoting packet, which starts in AMF0.

        avmplus: the peer reads AMF3, so anything but null, undefined, booleans, numbers and text goes behind one `11`.
        arguments: a list is written as AMF0's strict array, and `avmplus` applies to each item on its own.
        counted: that array takes an AMF0 slot, as clients of ActionScript 2 number them.
        whole: without `avmplus`, a value that holds bytes, a Vector, an externalizable object or a Dictionary that is
            no object is written behind one `11` as a whole: a client may misread AMF0 that follows a nested one.
        repeats: in AMF0, a value met again is written out again until so many values were written twice; after
            that, and in a cycle, it becomes a reference.
        wrap_lists: with `avmplus`, the Plan of a wrapper (Flex's ArrayCollection): whatever would be an array goes as
            such a wrapper around that array, except what is the source of a wrapper already.  The same for all calls of
            one encoder: a reference to a list is one to its wrapper.
        """
        self._begin()
        try:
            self.whole, self.repeats = whole and not avmplus, repeats
            if wrap_lists is not None and avmplus:
                self._wrapper = wrap_lists.alias
                self.wrapping = True
            try:
                if arguments and (type(value) is list or type(value) is tuple):
                    self._arguments(value, avmplus, counted)
                elif avmplus:
                    self._avmplus(value)
                else:
                    self._value0(<PyObject *>value)
            except NeedsAvmPlus:  # nothing of AMF3 was written yet, so its tables are as they were
                self.busy = False
                self._begin()
                free_objects(&self.slots)
                self.slots.numbered = AMF0_SLOTS
                self._put(0x11)
                self._value3(<PyObject *>value, NULL, 0)
        except BaseException as error:
            self._fail(error)
        self._hold()
        return self._finish()

    def encode_string(self, text):
        """A text without marker, through the string table: a key of an AMF3 shared object."""
        if type(text) is not str:
            raise TypeError(f"encode_string() takes a str, not {type(text).__name__}")
        self._begin()
        try:
            self._name3(text)
        except BaseException as error:
            self._fail(error)
        return self._finish()

    cdef int _configure(self, version, classes, limits, strings, default, big_ints, decimals) except -1:
        """Take the options, once they are known to be some."""
        if not (
            type(version) is int
            and (version == 3 or version == 0)
            and (limits is None or type(limits) is Limits)
            and (classes is None or type(classes) is ClassRegistry)
            and (default is None or callable(default))
            and usual(strings, "adaptive", "all", "all")
            and usual(big_ints, "error", "float", "string")
            and usual(decimals, "float", "string", "string")
        ):
            check_options(
                version, limits, classes=classes, default=default, strings=strings, big_ints=big_ints, decimals=decimals
            )
        self.version = version
        self._classes = default_registry if classes is None else classes
        self._kinds = self._classes.kinds
        self._max_depth = DEPTH
        self._max_values = NO_LIMIT
        if limits is not None:
            self._max_depth = min(limits.max_depth, DEPTH_MAX)
            if limits.max_values is not None:
                self._max_values = min(limits.max_values, NO_LIMIT)
        self._adaptive = strings == "adaptive"
        self._default = default
        self._big_ints = big_ints
        self._decimals = decimals
        return 0

    cdef int _begin(self) except -1:
        if self.failed:
            raise failed_before()
        if self.busy:
            raise at_work()
        self._drop_frames(0)
        if self.frames == NULL:
            self.frames = <Frame *>PyMem_Malloc(FIRST_FRAMES * sizeof(Frame))
            if self.frames == NULL:
                raise MemoryError()
            self.frame_room = FIRST_FRAMES
        self.level = 0
        self.base0 = 0
        memset(&self.frames[0], 0, sizeof(Frame))
        memset(self.widths, 0, sizeof(self.widths))
        self.plan_class = NULL
        # what was met in an earlier call can be met again by what the caller did since
        if self.objects.count or self.slots.count:
            self.careful = True
        self.values = self._max_values - 1
        self.whole, self.repeats, self.repeated = False, 0, 0
        self.wrapping, self.inside = False, False
        Py_XDECREF(self.out)
        self.out = NULL
        self.out = PyBytes_FromStringAndSize(NULL, expected)
        self.p = <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        self.end = self.p + PyBytes_GET_SIZE(<object>self.out)
        self.busy = True
        return 0

    cdef object _finish(self):
        cdef PyObject *out = self.out
        cdef PyObject *small
        cdef object result
        global expected
        if out == NULL:
            raise not_at_work()
        cdef Py_ssize_t size = self.p - <unsigned char *>PyBytes_AS_STRING(<object>out)
        if size + MARGIN > expected:
            expected = min(size + size // 8 + MARGIN, MOST_EXPECTED)
        else:  # a little less each time
            expected = max(expected - (expected - size) // 16, FIRST_BUFFER)
        self.busy = False
        self.p = self.end = NULL
        self.out = NULL
        # It is cheaper to copy a little than to have a large block cut.
        if size <= SMALL_RESULT or size * 4 < PyBytes_GET_SIZE(<object>out):
            small = PyBytes_FromStringAndSize(PyBytes_AS_STRING(<object>out), size)
            Py_DECREF(out)
            out = small
        elif _PyBytes_Resize(&out, size) < 0:
            raise MemoryError()
        result = <object>out
        Py_DECREF(out)
        return result

    cdef str _path(self, Py_ssize_t first):
        """The path from a frame to where we are."""
        cdef Py_ssize_t i
        cdef list steps = []
        for i in range(first, self.level + 1):
            container = None if self.frames[i].container == NULL else <object>self.frames[i].container
            try:
                steps.append(step(self.frames[i].mode, self.frames[i].place, container))
            except IndexError:  # the container has shrunk since
                steps.append(f"[{self.frames[i].place}]")
        return "".join(steps)

    cdef int _fail(self, error) except -1:
        self.failed = True
        self.busy = False
        self.p = self.end = NULL
        Py_XDECREF(self.out)
        self.out = NULL
        if isinstance(error, Exception) and not isinstance(error, (MemoryError, NeedsAvmPlus)):
            cause = error.__cause__
            found = explained(error, self._path(0))
            found.path = "$" + found.path
            found.args = (found.message, found.path, found.hint)
            self._drop_frames(0)
            if found is not error:
                raise found from error
            raise found from cause
        self._drop_frames(0)
        raise error

    # --- what externalizable classes use, through DataOutput --------------------------------------------------------

    def put(self, bytes data not None):
        """Write bytes as they are."""
        if not self.busy:
            raise not_at_work()
        self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    def write_object(self, value):
        """Write one AMF3 value inside an externalizable's payload."""
        if not self.busy:
            raise not_at_work()
        cdef Py_ssize_t base = self.level
        try:
            self._charge(1)
            self._value3(<PyObject *>value, NULL, 0)
        except BaseException as error:
            self._broken = error
            if isinstance(error, Exception) and not isinstance(error, MemoryError):
                # The frames inside are told now: the class may catch this, and go on from where it was.
                self._broken = explained(error, self._path(base + 1))
            self._drop_frames(base)
            if self._broken is not error:
                raise self._broken from error
            raise

    # --- the buffer ---------------------------------------------------------------------------------------------------

    cdef unsigned char *_more(self, unsigned char *p, Py_ssize_t need) except NULL:
        """Room for `need` bytes behind what was written up to `p`."""
        if self.out == NULL:  # there was no memory before, or the work has ended in the meantime
            raise not_at_work()
        cdef Py_ssize_t used = p - <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        cdef Py_ssize_t room = self.end - <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        room += room * 3 if room < 1 << 15 else room if room < 1 << 20 else room >> 1
        if room < used + need:
            room = used + need
        self.p = self.end = NULL  # should it fail
        if _PyBytes_Resize(&self.out, room) < 0:
            raise MemoryError()
        self.p = <unsigned char *>PyBytes_AS_STRING(<object>self.out) + used
        self.end = <unsigned char *>PyBytes_AS_STRING(<object>self.out) + room
        return self.p

    cdef inline unsigned char *_room(self, Py_ssize_t need) except NULL:
        if self.end - self.p < need:
            self._more(self.p, need)
        return self.p

    cdef inline int _put(self, unsigned char byte) except -1:
        cdef unsigned char *p = self._room(1)
        p[0] = byte
        self.p = p + 1
        return 0

    cdef inline int _raw(self, const char *data, Py_ssize_t size) except -1:
        cdef unsigned char *p = self._room(size)
        amf_copy(p, data, size)
        self.p = p + size
        return 0

    cdef inline int _double(self, unsigned char marker, double number) except -1:
        cdef unsigned char *p = self._room(9)
        p[0] = marker
        self.p = amf_put_double(p + 1, number)
        return 0

    cdef inline int _head3(self, unsigned char marker, Py_ssize_t count, what) except -1:
        """A marker and a length or count, with the bit that says that it is no reference."""
        if count > LENGTH_MAX:
            self._hold()
            raise too_long(what, count, LENGTH_MAX)
        cdef unsigned char *p = self._room(MARGIN)
        p[0] = marker
        self.p = amf_put_u29(p + 1, <uint32_t>(count << 1 | 1))
        return 0

    # --- strings -----------------------------------------------------------------------------------------------------

    cdef int _utf8(self, PyObject *text, const char **data, Py_ssize_t *size) except -1:
        """Text whose UTF-8 is not at hand, as UTF-8 that lives as long as the text.

        1 says that it has lone surrogates: then it is `_odd_text`, and its UTF-8 lives in `_odd_data`.
        """
        cdef object held = <object>text  # making an exception can set off the garbage collector
        cdef bytes found
        self._hold()
        try:
            data[0] = PyUnicode_AsUTF8AndSize(text, size)
            return 0
        except UnicodeEncodeError:
            pass
        found = utf8(held)
        self._odd_text = held
        self._odd_data = found
        data[0] = PyBytes_AS_STRING(found)
        size[0] = PyBytes_GET_SIZE(found)
        return 1

    cdef int _rehash(self, size_t size, bint keyed) except -1:
        """The string table in a new size, or with the strings' own hashes."""
        cdef StringSlot *new = <StringSlot *>PyMem_Calloc(size, sizeof(StringSlot))
        cdef size_t i, at
        cdef uint32_t hashed
        if new == NULL:
            raise MemoryError()
        if self.strings != NULL:
            for i in range(self.string_mask + 1):
                if self.strings[i].text != NULL:
                    hashed = self.strings[i].hash
                    if keyed and not self.keyed:
                        hashed = <uint32_t>PyObject_Hash(self.strings[i].text)
                    at = hashed & (size - 1)
                    while new[at].text != NULL:
                        at = (at + 1) & (size - 1)
                    new[at] = self.strings[i]
                    new[at].hash = hashed
            PyMem_Free(self.strings)
        self.strings = new
        self.string_mask = size - 1
        self.keyed = keyed
        return 0

    cdef int64_t _intern(self, PyObject *text, const char **data, Py_ssize_t *size) except -2:
        """The index of a string in the table; -1 when it was not there and is now, with its UTF-8.  Not for ""."""
        cdef uint32_t hashed
        cdef size_t at
        cdef int probes
        cdef const char *other
        cdef Py_ssize_t other_size
        cdef StringSlot *slot
        cdef Recent *recent = &self.recent[(<uintptr_t>text >> 4) & (RECENT - 1)]
        self.met = text
        if recent.text == text:
            return recent.index
        if not amf_text(text, data, size):
            if self._utf8(text, data, size):
                return self._intern_odd()
        if self.string_used * 2 >= self.string_mask:
            self._rehash((self.string_mask + 1) * 2 if self.strings != NULL else FIRST_TABLE, self.keyed)
        while True:
            hashed = <uint32_t>PyObject_Hash(text) if self.keyed else amf_hash(data[0], size[0])
            at = hashed & self.string_mask
            probes = 0
            while True:
                slot = &self.strings[at]
                if slot.text == NULL:
                    break
                if slot.text == text:
                    recent.text = text
                    recent.index = slot.index
                    return slot.index
                if slot.hash == hashed:
                    if not amf_text(slot.text, &other, &other_size):
                        other = PyUnicode_AsUTF8AndSize(slot.text, &other_size)
                    if other_size == size[0] and amf_equal(other, data[0], other_size):
                        self.met = slot.text
                        return slot.index
                probes += 1
                if probes > PROBES and not self.keyed:
                    break
                at = (at + 1) & self.string_mask
            if slot.text == NULL:
                break
            self._rehash(self.string_mask + 1, True)
        if self.string_count > LENGTH_MAX:  # no reference can say so much; it is written out each time
            self.met = NULL
            self.string_count += self.string_count < <uint32_t>-1
            return -1
        Py_INCREF(text)
        slot.text = text
        slot.hash = hashed
        slot.index = self.string_count
        recent.text = text
        recent.index = self.string_count
        self.string_used += 1
        self.string_count += 1
        return -1

    cdef int64_t _intern_odd(self) except -2:
        self.met = NULL
        if self._odd_strings is None:
            self._odd_strings = {}
        index = self._odd_strings.get(self._odd_text)
        if index is not None:
            return index
        self._odd_strings[self._odd_text] = self.string_count
        self.string_count += 1
        return -1

    cdef int64_t _name(self, PyObject *text, what) except -1:
        """A name that is not "", without marker: through the string table; its index there."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        cdef int64_t index = self._intern(text, &data, &size)
        if index >= 0:
            p = self._room(MARGIN)
            self.p = amf_put_u29(p, <uint32_t>(index << 1))
            return index
        if size > LENGTH_MAX:
            self._hold()
            raise too_long(what, size, LENGTH_MAX)
        p = self._room(MARGIN + size)
        p = amf_put_u29(p, <uint32_t>(size << 1 | 1))
        amf_copy(p, data, size)
        self.p = p + size
        return self.string_count - 1

    cdef int _name3(self, str text) except -1:
        if text is None:
            raise TypeError("a name is text, not None")
        if AMF_LENGTH(<PyObject *>text):
            self._name(<PyObject *>text, "text")
        else:
            self._put(0x01)
        return 0

    cdef int64_t _key3(self, PyObject *key, PyObject *members, Column *column) except -1:
        """A member's name that is not the one met here last; its index is the tag of the column."""
        cdef object name = <object>key
        cdef int64_t index
        if type(name) is not str:
            self._wary()
            name = key_text(name, <object>members)
        if AMF_LENGTH(<PyObject *>name) == 0:
            self._hold()
            raise empty_name()
        index = self._name(<PyObject *>name, "a key")
        if column != NULL and self.met == key:
            column.key = key
            column.key_index = <uint32_t>index
        return index

    cdef inline unsigned char *_quick_text3(
        self, unsigned char *p, PyObject *text, Column *column, int64_t tag
    ) noexcept:
        """A string value with its marker (AMF3 specification, 3.8) where that is easy, else NULL: in a column that
        does not look for repeats, or the same text as before.  There is room for MARGIN bytes at `p`.
        """
        cdef const char *data
        cdef Py_ssize_t size
        cdef Recent *recent
        if column == NULL or column.tag != tag:
            return NULL
        if column.looking:
            if column.text != text:
                recent = &self.recent[(<uintptr_t>text >> 4) & (RECENT - 1)]
                if recent.text == text:
                    column.text = text
                    column.text_index = recent.index
                elif not amf_same_text(column.text, text):
                    return NULL
            self._count(column, True)
            p[0] = 0x06
            return amf_put_u29(p + 1, column.text_index << 1)
        if not amf_text(text, &data, &size) or size == 0 or self.end - p < size + MARGIN or size > LENGTH_MAX:
            return NULL
        self.string_count += self.string_count < <uint32_t>-1  # every reader gives it a number
        p[0] = 0x06
        p = amf_put_u29(p + 1, <uint32_t>(size << 1 | 1))
        amf_copy(p, data, size)
        return p + size

    cdef unsigned char *_text3(self, PyObject *text, Column *column, int64_t tag) except NULL:
        """Any string."""
        cdef const char *data
        cdef Py_ssize_t size
        if column == NULL or column.tag != tag or not column.looking or not amf_text(text, &data, &size) or size == 0:
            return self._other_text3(text, column, tag)
        return self._look3(text, column, data, size)

    cdef inline int _count(self, Column *column, bint found) noexcept:
        """One string more was looked up: is it worth while to go on?"""
        column.seen += 1
        column.found += found
        if column.seen == COLUMN_SAMPLE:
            column.looking = column.found * COLUMN_WORTH >= COLUMN_SAMPLE or not self._adaptive
            column.seen = 0
            column.found = 0
        return 0

    cdef unsigned char *_look3(self, PyObject *text, Column *column, const char *data, Py_ssize_t size) except NULL:
        """A string in a column that looks for repeats."""
        cdef int64_t index
        cdef unsigned char *p
        cdef Recent *recent = &self.recent[(<uintptr_t>text >> 4) & (RECENT - 1)]
        if recent.text == text:
            index = recent.index
            column.text = text
            column.text_index = recent.index
        else:
            index = self._intern(text, &data, &size)
            column.text = self.met
            column.text_index = <uint32_t>(index if index >= 0 else self.string_count - 1)
        self._count(column, index >= 0)
        if index < 0:
            return self._new_text3(data, size)
        p = self._room(MARGIN)
        p[0] = 0x06
        return amf_put_u29(p + 1, <uint32_t>(index << 1))

    cdef unsigned char *_new_text3(self, const char *data, Py_ssize_t size) except NULL:
        """A string written out."""
        cdef unsigned char *p
        if size > LENGTH_MAX:
            self._hold()
            raise too_long("text", size, LENGTH_MAX)
        p = self._room(MARGIN + size)
        p[0] = 0x06
        p = amf_put_u29(p + 1, <uint32_t>(size << 1 | 1))
        amf_copy(p, data, size)
        return p + size

    cdef unsigned char *_other_text3(self, PyObject *text, Column *column, int64_t tag) except NULL:
        """Any string, in any column or none."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        cdef int64_t index
        if AMF_LENGTH(text) == 0:
            p = self._room(MARGIN)
            p[0] = 0x06
            p[1] = 0x01
            return p + 2
        if column != NULL and column.tag != tag:
            column.tag = tag
            column.seen = 0
            column.found = 0
            column.looking = True
            if amf_text(text, &data, &size):
                return self._look3(text, column, data, size)
        if column == NULL or column.looking:
            index = self._intern(text, &data, &size)
            if column != NULL:
                self._count(column, index >= 0)
            if index >= 0:
                p = self._room(MARGIN)
                p[0] = 0x06
                return amf_put_u29(p + 1, <uint32_t>(index << 1))
        else:
            self.string_count += self.string_count < <uint32_t>-1  # every reader gives it a number
            if not amf_text(text, &data, &size):
                self._utf8(text, &data, &size)
        return self._new_text3(data, size)

    # --- frames, columns, objects -----------------------------------------------------------------------------------

    cdef inline Py_ssize_t _push(self, PyObject *value, PyObject *container, int mode) except -1:
        """One container deeper; what names its places is kept alive by the caller, or by `_own`."""
        cdef Py_ssize_t level = self.level + 1
        cdef Frame *frame
        if level > self._max_depth:
            self._hold()
            raise too_deep(self._max_depth)
        if level >= self.frame_room:
            self._more_frames()
        frame = &self.frames[level]
        frame.value = value
        frame.container = container
        frame.owned = NULL
        frame.live = NULL
        frame.copy = NULL
        frame.place = -1
        frame.mode = mode
        frame.settled = False
        self.level = level
        return level

    cdef int _more_frames(self) except -1:
        cdef Frame *bigger = <Frame *>PyMem_Realloc(self.frames, self.frame_room * 4 * sizeof(Frame))
        if bigger == NULL:
            raise MemoryError()
        self.frames = bigger
        self.frame_room *= 4
        return 0

    cdef int _own(self, Py_ssize_t level, object names) except -1:
        """What names the places of a container, kept alive until it is left, or its path has been told."""
        cdef PyObject *old = self.frames[level].owned
        Py_INCREF(<PyObject *>names)
        self.frames[level].owned = <PyObject *>names
        self.frames[level].container = <PyObject *>names
        Py_XDECREF(old)
        return 0

    cdef int _wary(self) except -1:
        """Before code of the user's runs: from now on objects can be met that could not, and containers can change.

        Those that are open are read from copies from here on, as if they had been copied at first.
        """
        cdef Py_ssize_t level
        cdef PyObject *live
        cdef object copied
        self._hold()
        self.careful = True
        for level in range(self.level, 0, -1):
            if self.frames[level].settled:
                break
            live = self.frames[level].live
            if live != NULL:
                if isinstance(<object>live, dict):
                    copied = dict.copy(<object>live)
                    self._own(level, copied)
                else:
                    copied = PyList_GetSlice(<object>live, 0, AMF_LIST_SIZE(live))
                    self._own(level, copied)
                    self.frames[level].container = NULL
                self.frames[level].copy = <PyObject *>copied
                self.frames[level].live = NULL
            self.frames[level].settled = True
        return 0

    cdef inline int _hold(self) noexcept:
        """Before anything that is not plain C over plain data, the making of an error too: it may run the garbage
        collector, or let another thread go on, and so take away what was met and is not kept alive yet.
        """
        if self.objects.held != self.objects.count:
            hold(&self.objects)
        if self.slots.held != self.slots.count:
            hold(&self.slots)
        return 0

    cdef inline int _pop(self, Py_ssize_t level) noexcept:
        """Out of a container, which a copy may have been made of."""
        if self.frames[level].owned != NULL:
            return self._leave(level)
        self.level = level - 1
        return 0

    cdef int _leave(self, Py_ssize_t level) noexcept:
        """Out of a container that may own what names its places."""
        cdef PyObject *old = self.frames[level].owned
        self.frames[level].owned = NULL
        self.level = level - 1
        Py_XDECREF(old)
        return 0

    cdef int _drop_frames(self, Py_ssize_t down_to) noexcept:
        """Out of all containers that an error has left open."""
        cdef Py_ssize_t level
        if self.frames != NULL:
            for level in range(self.level, down_to, -1):
                self._leave(level)
        self.level = down_to
        return 0

    cdef inline Column *_columns(self, Py_ssize_t level) except? NULL:
        """The columns at a depth; NULL where every string is looked up."""
        if level > COLUMN_DEPTHS:
            return NULL
        if self.columns == NULL:
            self.columns = <Column *>PyMem_Malloc(COLUMN_DEPTHS * COLUMN_PLACES * sizeof(Column))
            if self.columns == NULL:
                raise MemoryError()
        return self.columns + (level - 1) * COLUMN_PLACES

    cdef inline Column *_column(self, Column *columns, Py_ssize_t level, Py_ssize_t place) noexcept:
        """The column of a place."""
        if place > COLUMN_PLACES - 1:
            place = COLUMN_PLACES - 1
        if place >= self.widths[level]:
            while self.widths[level] <= place:
                memset(columns + self.widths[level], 0, sizeof(Column))
                columns[self.widths[level]].tag = NO_TAG
                self.widths[level] += 1
        return columns + place

    cdef inline int _charge(self, int64_t count) except -1:
        self.values -= count
        if self.values < 0:
            self._hold()
            raise too_many(self._max_values)
        return 0

    cdef inline int _met3(self, PyObject *value, unsigned char marker) except -1:
        """Give an object the next slot (0), or write a reference to the one it has (1)."""
        if not amf_shared(value) and not self.careful and self.objects.count <= LENGTH_MAX:
            keep(&self.objects, value, True)
            return 0
        return self._shared3(value, marker)

    cdef int _shared3(self, PyObject *value, unsigned char marker) except -1:
        cdef unsigned char *p
        cdef int64_t index
        if self.objects.lazy and (self.careful or self.objects.count > LENGTH_MAX):
            hash_lazy_ones(&self.objects)
        if self.objects.count <= LENGTH_MAX:
            index = find_or_add(&self.objects, value, self.objects.count)
        else:
            index = find_object(&self.objects, value)
        if index < 0:
            if self.objects.count > LENGTH_MAX:
                self._hold()
                raise too_many_objects()
            keep(&self.objects, value, False)
            return 0
        if self.wrapping and marker == 0x09 and not issubclass(type(<object>value), EcmaArray):
            marker = 0x0A  # the collection that the list went in
        p = self._room(MARGIN)
        p[0] = marker
        self.p = amf_put_u29(p + 1, <uint32_t>(index << 1))
        return 1

    cdef object _list_of(self, value):
        """The items of an iterable; one that can be read only once is read once."""
        self._wary()
        if self._made is None:
            self._made = {}
        known = self._made.get(id(value))
        if known is not None:
            return known[1]
        items = listed(value, self.values, self._max_values)
        self._made[id(value)] = value, items
        return items

    # --- AMF3 ---------------------------------------------------------------------------------------------------------

    cdef int _value3(self, PyObject *value, Column *column, int64_t tag) except -1:
        """One value with its marker that is no item or member of a loop below."""
        cdef unsigned char *p = self._room(MARGIN)
        cdef PyTypeObject *cls = amf_type(value)
        if cls == &PyUnicode_Type:
            self.p = self._other_text3(value, column, tag)
            return 0
        p = scalar3(p, value, cls)
        if p != NULL:
            self.p = p
            return 0
        return self._nested3(value, cls, column, tag)

    cdef int _nested3(self, PyObject *value, PyTypeObject *cls, Column *column, int64_t tag) except -1:
        """A value that is no common scalar."""
        if cls == &PyDict_Type:
            if not self._met3(value, 0x0A):
                self._dict3(value, value)
            return 0
        if cls == &PyList_Type:
            if not self._met3(value, 0x09):
                self._list3(value, value)
            return 0
        if cls == DATETIME_TYPE:
            if not self._met3(value, 0x08):
                self._date3(value, DATETIME)
            return 0
        if cls == &PyTuple_Type:
            if AMF_TUPLE_SIZE(value) == 0:
                if self.wrapping:
                    self._alone3(value, NULL, 0)
                    return self._list3(value, value)
                self._alone3(value, b"\x09\x01\x01", 3)
                if self.level >= self._max_depth:
                    self._hold()
                    raise too_deep(self._max_depth)
                return 0
            if not self._met3(value, 0x09):
                self._list3(value, value)
            return 0
        if cls == &PyLong_Type:
            return self._int3(value, column, tag)
        if cls == self.plan_class:
            if not self._met3(value, 0x0A):
                self._instance3(value)
            return 0
        return self._other3(value, cls, column, tag)

    cdef int _alone3(self, PyObject *value, const char *data, Py_ssize_t size) except -1:
        """A value that takes a slot, and that no reference leads to: CPython shares it, not the user."""
        if self.objects.count > LENGTH_MAX:
            self._hold()
            raise too_many_objects()
        keep(&self.objects, value, False)
        return self._raw(data, size)

    cdef int _int3(self, PyObject *value, Column *column, int64_t tag) except -1:
        cdef object held = <object>value
        cdef int overflow = 0
        cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if not overflow and -EXACT_INT <= number <= EXACT_INT:
            if INT29_MIN <= number <= INT29_MAX:  # of two digits, where a digit has 15 bits
                self._room(MARGIN)
                self.p[0] = 0x04
                self.p = amf_put_u29(self.p + 1, <uint32_t>number & U29_MAX)
                return 0
            return self._double(0x05, <double>number)
        self._hold()
        held = big_int(held, self._big_ints)
        return self._value3(<PyObject *>held, column, tag)

    cdef int _date3(self, PyObject *value, int kind) except -1:
        """A moment in milliseconds (AMF3 specification, 3.10)."""
        cdef double number
        cdef unsigned char *p
        if not is_simple_date(value, kind):
            self._hold()
            self._wary_of_date(<object>value)
        number = self._milliseconds(value, kind)
        p = self._room(MARGIN)
        p[0] = 0x08
        p[1] = 0x01
        self.p = amf_put_double(p + 2, number)
        return 0

    cdef double _milliseconds(self, PyObject *value, int kind) except? -1.5:
        """The time of a date."""
        cdef int64_t year, month, day, era, days, micros
        if is_simple_date(value, kind):
            # days since the epoch, counted in eras of 400 years that begin on the first of March
            year, month, day = AMF_YEAR(value), AMF_MONTH(value), AMF_DAY(value)
            year -= month <= 2
            era = year // 400
            days = (year - era * 400) * 365 + (year - era * 400) // 4 - (year - era * 400) // 100
            days += (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1 + era * 146097 - 719468
            micros = ((days * 24 + AMF_HOUR(value)) * 60 + AMF_MINUTE(value)) * 60 + AMF_SECOND(value)
            micros = micros * 1000000 + AMF_MICROSECOND(value)
            if -EXACT_INT <= micros <= EXACT_INT:
                return <double>micros / 1000.0
        cdef object moment = <object>value
        self._hold()
        return milliseconds(moment, kind)  # rounded once, as the twin does

    cdef int _wary_of_date(self, value) except -1:
        """A date whose time zone is no fixed one may ask code of the user's."""
        if type(value) is not _datetime.datetime and type(value) is not _datetime.date:
            self._wary()
        elif type(value) is _datetime.datetime and type(value.tzinfo) is not _TIMEZONE:
            self._wary()
        return 0

    cdef int _other3(self, PyObject *value, PyTypeObject *cls, Column *column, int64_t tag) except -1:
        """A value of a type that is looked up.  From here on, code of the user's may run, so it is held."""
        cdef object thing = <object>value
        cdef object payload, other
        cdef int kind, marker
        cdef PyObject *entry
        self._hold()
        entry = PyDict_GetItemWithError(<PyObject *>self._kinds, <PyObject *>cls)
        if entry != NULL:
            other = <object>entry
        else:
            self._wary()
            other = _kind_of(type(thing), self._classes)
        kind, payload = other
        if kind == UNDEFINED:
            return self._put(0x00)
        if kind < BYTES:
            if kind >= NATURAL and not (kind == NATURAL and is_harmless(cls, thing, payload)):
                self._wary()
            other = plain(thing, kind, payload, self._classes, self._default, self._decimals)
            return self._value3(<PyObject *>other, column, tag)
        # what is left takes a slot of the object table
        if kind == INVALID_DATE:
            return self._alone3(value, b"\x08\x01\x7f\xf8\x00\x00\x00\x00\x00\x00", 10)
        if cls == &PyBytes_Type and PyBytes_GET_SIZE(thing) < 2:
            self._alone3(value, NULL, 0)
            return self._leaf3(thing, kind, payload)
        if cls == &PyFrozenSet_Type and not thing:
            self._alone3(value, NULL, 0)
            return self._container3(thing, kind, payload)
        marker = MARKERS[kind]
        if marker == 0:  # asking may run code of the user's
            self._wary()
            if find_object(&self.objects, value) >= 0:
                marker = reference_marker(thing, kind)[0]
        if self._met3(value, marker):
            return 0
        if kind == PLAN:
            if payload.form == FORM_MEMBERS and payload.attributes is not None:
                self._plan = payload
                self._attributes, self._names, self._plan_extra = payload.attributes, payload.names, payload.extra
                self.plan_traits = -1
                self.plan_class = cls
                return self._instance3(value)
            return self._object3(thing, payload)
        if kind == TYPED:
            return self._typed3(thing)
        if kind < ARRAY:
            return self._leaf3(thing, kind, payload)
        return self._container3(thing, kind, payload)

    cdef int _leaf3(self, thing, int kind, payload) except -1:
        """Dates, bytes, XML: a slot, and nothing inside."""
        cdef bytes data
        if kind == DATETIME or kind == DATE:
            return self._date3(<PyObject *>thing, kind)
        if kind == BYTES:
            if type(thing) is bytes:
                data = thing
            else:
                self._wary()
                data = memoryview(thing).tobytes()
            self._head3(0x0C, PyBytes_GET_SIZE(data), "bytes")
        elif kind == XML:
            data = utf8(str.__str__(thing))
            self._head3(0x07 if thing.legacy else 0x0B, PyBytes_GET_SIZE(data), "XML")
        else:
            self._wary()
            data = utf8(payload(thing))
            self._head3(0x0B, PyBytes_GET_SIZE(data), "XML")
        return self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef int _list3(self, PyObject *value, PyObject *items) except -1:
        """A list or tuple as a dense array (AMF3 specification, 3.11)."""
        if self.wrapping and self._wrapped3(value):
            return 0
        cdef bint is_list = not isinstance(<object>items, tuple)
        cdef Py_ssize_t count = AMF_LIST_SIZE(items) if is_list else AMF_TUPLE_SIZE(items)
        cdef Py_ssize_t level = self._push(value, NULL, IN_LIST)
        cdef unsigned char *p
        if is_list and items == value:
            self.frames[level].live = value
        p = self._room(MARGIN)
        p[0] = 0x09
        if count < 64:
            p[1] = <unsigned char>(count << 1 | 1)
            p += 2
        else:
            self._head3(0x09, count, "an array")
            p = self.p
        p[0] = 0x01
        self.p = p + 1
        self._charge(count)
        self._items3(items, is_list, 0, count, level, self._columns(level), ALWAYS)
        self._pop(level)
        return 0

    cdef int _items3(
        self,
        PyObject *items,
        bint is_list,
        Py_ssize_t i,
        Py_ssize_t count,
        Py_ssize_t level,
        Column *columns,
        int64_t tag,
    ) except -1:
        """The values of a list or tuple from the i-th on, one after another; the caller keeps it alive."""
        cdef Py_ssize_t size
        cdef PyObject **all
        cdef PyObject *item
        cdef PyTypeObject *cls
        cdef Column *column = NULL
        cdef int64_t number
        cdef unsigned char *p = self.p
        cdef unsigned char *next
        while i < count:
            # Read anew behind everything that may have run code of anybody's, because that may have changed a list.
            all = AMF_ITEMS(items, is_list)
            size = AMF_SIZE(items)
            if i >= size:
                raise EncodeError("a list became shorter while it was being encoded")
            if size > count:
                size = count
            while True:
                item = all[i]
                if self.end - p < MARGIN:
                    p = self._more(p, MARGIN)
                cls = amf_type(item)
                if cls == &PyUnicode_Type:
                    if columns != NULL:
                        column = self._column(columns, level, i)
                    next = self._quick_text3(p, item, column, tag)
                    if next == NULL:
                        self.p = p
                        self.frames[level].place = i
                        p = self._text3(item, column, tag)
                        i += 1
                        break
                    p = next
                elif cls == &PyFloat_Type:
                    next = self.end - MARGIN
                    while True:
                        p[0] = 0x05
                        p = amf_put_double(p + 1, AMF_FLOAT(item))
                        if i + 1 >= size or p > next or amf_type(all[i + 1]) != &PyFloat_Type:
                            break
                        i += 1
                        item = all[i]
                elif cls == &PyLong_Type and amf_small_int(item, &number) and INT29_MIN <= number <= INT29_MAX:
                    next = self.end - MARGIN
                    while True:
                        p[0] = 0x04
                        p = amf_put_u29(p + 1, <uint32_t>number & U29_MAX)
                        if i + 1 >= size or p > next:
                            break
                        item = all[i + 1]
                        if amf_type(item) != &PyLong_Type or not amf_small_int(item, &number):
                            break
                        if not INT29_MIN <= number <= INT29_MAX:
                            break
                        i += 1
                elif item == Py_None:
                    p[0] = 0x01
                    p += 1
                elif cls == &PyBool_Type:
                    p[0] = 0x03 if item == Py_True else 0x02
                    p += 1
                else:
                    self.p = p
                    self.frames[level].place = i
                    if cls == &PyDict_Type:
                        if not self._met3(item, 0x0A):
                            self._dict3(item, item)
                    elif cls == &PyList_Type:
                        if not self._met3(item, 0x09):
                            self._list3(item, item)
                    elif cls == self.plan_class:
                        if not self._met3(item, 0x0A):
                            self._instance3(item)
                    else:
                        if columns != NULL:
                            column = self._column(columns, level, i)
                        self._nested3(item, cls, column, tag)
                    p = self.p
                    if self.frames[level].copy != NULL:
                        items = self.frames[level].copy
                    i += 1
                    break
                i += 1
                if i >= size:
                    break
        self.p = p
        return 0

    cdef inline int _dynamic_traits(self) except -1:
        """The header of a plain dict: traits the first time, a reference to them from then on."""
        cdef unsigned char *p = self._room(MARGIN)
        p[0] = 0x0A
        if self.plain_traits < 0:
            self.plain_traits = self.traits_count
            self.traits_count += 1
            p[1] = 0x0B
            p[2] = 0x01
            self.p = p + 3
        else:
            self.p = amf_put_u29(p + 1, <uint32_t>(self.plain_traits << 2 | 1))
        return 0

    cdef int _dict3(self, PyObject *value, PyObject *members) except -1:
        """A dict as an anonymous dynamic object (AMF3 specification, 3.12)."""
        cdef Py_ssize_t level = self._push(value, members, IN_PAIRS)
        if members == value:
            self.frames[level].live = value
        self._dynamic_traits()
        self._charge(AMF_DICT_SIZE(members))
        self._pairs3(members, level, self._columns(level))
        self._put(0x01)
        self._pop(level)
        return 0

    cdef int _pairs3(self, PyObject *members, Py_ssize_t level, Column *columns) except -1:
        """Names and values, as dynamic members and associative parts have them; the end is the caller's."""
        cdef Py_ssize_t count = AMF_DICT_SIZE(members)
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t place = 0
        cdef PyObject *key
        cdef PyObject *item
        cdef PyTypeObject *cls
        cdef Column *column = NULL
        cdef Recent *recent
        cdef int64_t tag
        cdef unsigned char *p = self.p
        cdef unsigned char *next
        cdef object _held = None
        while amf_next(members, &position, &key, &item):
            if self.end - p < MARGIN:
                p = self._more(p, MARGIN)
            if columns != NULL:
                column = self._column(columns, level, place)
            recent = &self.recent[(<uintptr_t>key >> 4) & (RECENT - 1)]
            if column != NULL and column.key == key:
                tag = column.key_index
                p = amf_put_u29(p, column.key_index << 1)
            elif recent.text == key:
                tag = recent.index
                p = amf_put_u29(p, recent.index << 1)
                if column != NULL:
                    column.key = key
                    column.key_index = recent.index
            else:
                _held = <object>item  # the look-up of a key may run code of the user's, which may drop it
                self.p = p
                self.frames[level].place = place
                tag = self._key3(key, members, column)
                p = self._room(MARGIN)
                if self.frames[level].copy != members and self.frames[level].copy != NULL:
                    members = self.frames[level].copy
                    position = nth_position(members, place + 1)
            cls = amf_type(item)
            if cls == &PyUnicode_Type:
                next = self._quick_text3(p, item, column, tag)
                if next != NULL:
                    p = next
                else:
                    self.p = p
                    self.frames[level].place = place
                    p = self._text3(item, column, tag)
            else:
                next = scalar3(p, item, cls)
                if next != NULL:
                    p = next
                else:
                    self.p = p
                    self.frames[level].place = place
                    if cls == &PyDict_Type:
                        if not self._met3(item, 0x0A):
                            self._dict3(item, item)
                    elif cls == &PyList_Type:
                        if not self._met3(item, 0x09):
                            self._list3(item, item)
                    else:
                        self._nested3(item, cls, column, tag)
                    p = self.p
                    if self.frames[level].copy != members and self.frames[level].copy != NULL:
                        members = self.frames[level].copy
                        position = nth_position(members, place + 1)
            place += 1
            if place > count:
                break
        self.p = p
        if place != count:
            raise EncodeError("a dict changed while it was being encoded")
        return 0

    cdef int64_t _write_traits(self, str alias, tuple names, bint dynamic) except -1:
        """The header of an object, as a reference when the traits were written before; their place in the table."""
        cdef unsigned char *p
        cdef int64_t index
        cdef object found, key
        if dynamic and not names and not alias:
            self._dynamic_traits()
            return self.plain_traits
        key = (alias, dynamic, names)
        if self._traits is None:
            self._traits = {}
        found = self._traits.get(key)
        if found is not None:
            index = found
            return self._traits_reference(index)
        if len(names) << 4 > U29_MAX:
            raise too_many_members(len(names))
        p = self._room(MARGIN)
        p[0] = 0x0A
        self.p = amf_put_u29(p + 1, <uint32_t>(len(names) << 4 | dynamic << 3 | 3))
        self._name3(alias)
        for name in names:
            self._name3(name)
        index = self.traits_count
        self.traits_count += 1
        self._traits[key] = index
        return index

    cdef inline int64_t _traits_reference(self, int64_t index) except -1:
        cdef unsigned char *p = self._room(MARGIN)
        p[0] = 0x0A
        self.p = amf_put_u29(p + 1, <uint32_t>(index << 2 | 1))
        return index

    cdef int _external_traits(self, str alias, bint dynamic) except -1:
        cdef unsigned char *p
        cdef object key = (alias, FORM_EXTERNAL + dynamic, ())
        if self._traits is None:
            self._traits = {}
        found = self._traits.get(key)
        if found is not None:
            self._traits_reference(found)
            return 0
        p = self._room(MARGIN)
        p[0] = 0x0A
        p[1] = 0x0F if dynamic else 0x07
        self.p = p + 2
        self._name3(alias)
        self._traits[key] = self.traits_count
        self.traits_count += 1
        return 0

    cdef int _instance3(self, PyObject *value) except -1:
        """An instance of the class that was met last, whose attributes are read without a detour."""
        cdef object plan = self._plan
        cdef tuple attributes = self._attributes
        cdef object content, extra
        cdef Py_ssize_t i, count = AMF_TUPLE_SIZE(<PyObject *>attributes)
        cdef Py_ssize_t level
        self._hold()
        if self.level >= self._max_depth:
            raise too_deep(self._max_depth)
        # All are read before the first is written, as the twin does.  The garbage collector shall not see gaps, and
        # need not see a tuple that nobody else will.
        content = <object>PyTuple_New(count)
        Py_DECREF(<PyObject *>content)
        if count:
            PyObject_GC_UnTrack(<PyObject *>content)
        try:
            for i in range(count):
                PyTuple_SET_ITEM(
                    <PyObject *>content, i, PyObject_GenericGetAttr(value, AMF_TUPLE_ITEM(<PyObject *>attributes, i))
                )
        except AttributeError:
            content = plan.get(<object>value)
            if type(content) is not tuple:
                content = tuple(content)
        extra = None
        if self._plan_extra is not None:
            extra = self._plan_extra(<object>value)
        level = self._push(value, <PyObject *>self._names, IN_SEALED)
        if self.plan_traits >= 0:
            self._traits_reference(self.plan_traits)
        else:
            self.plan_traits = self._write_traits(plan.alias, self._names, extra is not None)
        return self._members3(level, content, extra, self.plan_traits)

    cdef int _members3(self, Py_ssize_t level, tuple content, dict extra, int64_t index) except -1:
        """Sealed members and then the dynamic ones, behind their traits."""
        cdef Py_ssize_t count = AMF_TUPLE_SIZE(<PyObject *>content)
        cdef Column *columns = self._columns(level)
        self._charge(count + (AMF_DICT_SIZE(<PyObject *>extra) if extra is not None else 0))
        self._items3(<PyObject *>content, False, 0, count, level, columns, -2 - index)
        if extra is not None:
            self._own(level, extra)
            self.frames[level].mode = IN_PAIRS
            self.frames[level].place = -1
            self._pairs3(<PyObject *>extra, level, columns)
            self._put(0x01)
        self._leave(level)
        return 0

    cdef int _object3(self, thing, plan) except -1:
        """An instance by its plan, where reading it may run any code."""
        cdef object names, content, extra, alias
        cdef Py_ssize_t level
        if plan.form == FORM_WRAPPER:
            return self._wrapper3(thing, plan)
        if plan.form == FORM_EXTERNAL:
            return self._external3(thing, plan)
        self._wary()
        level = self._push(<PyObject *>thing, NULL, IN_SEALED)
        alias, names, content, extra = members_of(thing, plan)
        return self._sealed3(level, alias, names, content, extra)

    cdef int _sealed3(self, Py_ssize_t level, str alias, tuple names, content, dict extra) except -1:
        cdef int64_t index = self._write_traits(alias, names, extra is not None)
        self._own(level, names)
        return self._members3(level, content if type(content) is tuple else tuple(content), extra, index)

    cdef int _typed3(self, thing) except -1:
        """A TypedObject, by what it says of itself."""
        cdef Py_ssize_t level = self._push(<PyObject *>thing, NULL, IN_SEALED)
        cdef Py_ssize_t position = 0
        cdef PyObject *key
        cdef PyObject *item
        cdef object alias, names, extra
        cdef list content, keys
        if type(thing) is TypedObject and thing.dynamic is False and type(thing.alias) is str:
            # All its members are sealed, the usual case, and their names are text: the same without a detour.
            names, content = thing.sealed, []
            if names is None:
                keys = []
                while amf_next(<PyObject *>thing, &position, &key, &item):
                    if amf_type(key) != &PyUnicode_Type:
                        break
                    keys.append(<object>key)
                    content.append(<object>item)
                else:
                    return self._sealed3(level, thing.alias, tuple(keys), content, None)
            elif type(names) is tuple and len(names) == AMF_DICT_SIZE(<PyObject *>thing):
                for name in names:
                    if type(name) is not str:
                        break
                    item = PyDict_GetItemWithError(<PyObject *>thing, <PyObject *>name)
                    if item == NULL:
                        break
                    content.append(<object>item)
                else:
                    if len(set(names)) == len(names):
                        return self._sealed3(level, thing.alias, names, content, None)
        self._wary()
        alias, names, content_, extra = members_of(thing, None)
        return self._sealed3(level, alias, names, content_, extra)

    cdef int _wrapper3(self, thing, plan) except -1:
        """A Flex collection: an externalizable whose payload is one value."""
        cdef Py_ssize_t level = self._push(<PyObject *>thing, NULL, IN_SOURCE)
        cdef object source
        self._external_traits(plan.alias_of(thing), getattr(thing, "__amf_dynamic__", False))
        source = thing.source
        self._charge(1)
        self.frames[level].place = 0
        if self.wrapping:
            self._source3(source)
        else:
            self._value3(<PyObject *>source, NULL, 0)
        self.level = level - 1
        return 0

    cdef int _source3(self, source) except -1:
        """What a Flex collection holds, where arrays are wrapped: this one is already."""
        cdef PyObject *value
        cdef object content
        content = self._kinds.get(type(source))
        if content is None:
            self._wary()
            content = _kind_of(type(source), self._classes)
        kind, payload = content
        if INTEGER <= kind <= UNKNOWN:
            self._wary()
            source = plain(source, kind, payload, self._classes, self._default, self._decimals)
            kind, payload = self._kinds.get(type(source)) or _kind_of(type(source), self._classes)
        value = <PyObject *>source
        if kind == ARRAY:
            self._wary()
        if not is_array(source, kind):
            return self._value3(value, NULL, 0)
        if self._inside3(value):
            return 0
        if kind == ROWS:
            self.inside = True
            return self._rows3(source)
        if self.level >= self._max_depth:
            raise too_deep(self._max_depth)
        content = source if kind == LIST else self._list_of(source) if kind == ITERABLE else payload(source)
        self.inside = True
        return self._list3(value, <PyObject *>content)

    cdef int _wrapped3(self, PyObject *value) except -1:
        """Before an array, the wrapper that it goes in; 1 where the array is a reference, and so done."""
        if self.inside:
            self.inside = False
            return 0
        self._hold()
        self._external_traits(self._wrapper, False)
        return self._inside3(value)

    cdef int _inside3(self, PyObject *value) except -1:
        """Give the array inside a wrapper the next slot (0), or write a reference to the one it has (1)."""
        cdef PyObject *key = <PyObject *>(<uintptr_t>value | INSIDE)
        cdef int64_t index
        cdef unsigned char *p
        # an empty tuple or frozenset is shared by CPython, not by the user
        if (amf_type(value) == &PyTuple_Type or amf_type(value) == &PyFrozenSet_Type) and not <object>value:
            self._alone3(value, NULL, 0)
            return 0
        if self.objects.count > LENGTH_MAX:
            self._hold()
            raise too_many_objects()
        index = find_or_add(&self.objects, key, self.objects.count)
        if index < 0:
            keep(&self.objects, value, False)
            return 0
        p = self._room(MARGIN)
        p[0] = 0x09
        self.p = amf_put_u29(p + 1, <uint32_t>(index << 1))
        return 1

    cdef int _external3(self, thing, plan) except -1:
        """The payload of a class that writes itself."""
        cdef Py_ssize_t level = self._push(<PyObject *>thing, NULL, IN_LIST)
        cdef object output
        self._external_traits(plan.alias_of(thing), False)
        if self.external >= EXTERNAL_DEPTH:
            raise too_many_externals()
        self._wary()
        self.external += 1
        output = DataOutput(self)
        try:
            thing.__writeamf__(output)
            if self._broken is not None:  # the class caught it, but half a value has been written
                raise self._broken
        finally:
            output._encoder = CLOSED
            self.external -= 1
        self.level = level - 1
        return 0

    cdef int _container3(self, thing, int kind, payload) except -1:
        """Containers that are met less often than lists, dicts and objects."""
        cdef PyObject *value = <PyObject *>thing
        cdef object content, others
        cdef Py_ssize_t count, level
        if kind == DICT:
            return self._dict3(value, value)
        if kind == LIST:
            return self._list3(value, value)
        if kind == MAPPING:
            self._wary()
            level = self._push(value, NULL, IN_PAIRS)
            content = mapped(thing, self.values)
            self._own(level, content)
            self._dynamic_traits()
            self._charge(len(content))
            self._pairs3(<PyObject *>content, level, self._columns(level))
            self._put(0x01)
            return self._leave(level)
        if kind == ITERABLE:
            if self.level >= self._max_depth:
                raise too_deep(self._max_depth)
            content = self._list_of(thing)
            return self._list3(value, <PyObject *>content)
        if kind == ARRAY or kind == VECTOR:
            self._wary()
            if kind == VECTOR:
                content = packed(thing)
            elif _array_kind(thing) == "double" and self._doubles(thing):
                return 0
            else:
                content = payload(thing)
            if type(content) is tuple:
                form, count, data = content
                self._charge(count)
                self._head3(VECTOR_MARKERS[form], count, "a Vector")
                self._put(kind == VECTOR and thing.fixed)
                return self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
            if kind == ARRAY:
                return self._list3(value, <PyObject *>content)
            level = self._push(value, NULL, IN_LIST)
            content = list.__getitem__(thing, slice(None))
            count = len(content)
            self._head3(0x10, count, "a Vector")
            self._put(1 if thing.fixed else 0)
            self._name3(alias_text(thing.alias))
            self._charge(count)
            self._items3(<PyObject *>content, True, 0, count, level, NULL, ALWAYS)
        elif kind == ECMA:
            level = self._push(value, NULL, IN_LIST)
            if type(thing) is not EcmaArray:
                self._wary()
            content, others = split(thing)
            self._own(level, others)
            self._head3(0x09, len(content), "an array")
            self._charge(len(content) + len(others))
            self.frames[level].mode = IN_PAIRS
            self._pairs3(<PyObject *>others, level, self._columns(level))
            self._put(0x01)
            self.frames[level].mode = IN_LIST
            self.frames[level].place = -1
            self._items3(<PyObject *>content, True, 0, len(content), level, self._columns(level), ALWAYS)
        elif kind == DICTIONARY:
            level = self._push(value, NULL, IN_ENTRIES)
            self._wary()
            content = entries(thing, self.values)
            count = len(content)
            self._head3(0x11, count >> 1, "a Dictionary")
            self._put(1 if thing.weak else 0)
            self._charge(count)
            self._items3(<PyObject *>content, True, 0, count, level, NULL, ALWAYS)
        else:
            return self._rows3(thing)
        return self._leave(level)

    cdef bint _doubles(self, thing) except -1:
        """An array of native doubles, byte order changed on the way; False where it is not one in memory."""
        cdef Py_buffer view
        cdef Py_ssize_t count, i
        cdef unsigned char *p
        cdef const char *items
        cdef uint64_t bits
        try:
            PyObject_GetBuffer(thing, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        except (BufferError, ValueError, TypeError):
            return False
        try:
            if view.itemsize != 8 or view.ndim != 1 or view.format == NULL or view.format[0] != b"d" or view.format[1]:
                return False
            count = view.len // 8
            self._charge(count)
            self._head3(0x0F, count, "a Vector")
            p = self._room(1 + view.len)
            p[0] = 0
            p += 1
            items = <const char *>view.buf
            for i in range(count):
                bits = AMF_SWAP64(amf_load64(items + 8 * i))
                memcpy(p + 8 * i, &bits, 8)
            self.p = p + view.len
        finally:
            PyBuffer_Release(&view)
        return True

    cdef int _rows3(self, thing) except -1:
        """A result set: an array of sealed objects, whose names stand on the wire once."""
        if self.wrapping and self._wrapped3(<PyObject *>thing):
            return 0
        cdef Py_ssize_t level = self._push(<PyObject *>thing, NULL, IN_ROWS)
        cdef object rows, row, header
        cdef tuple columns
        cdef Py_ssize_t count, width, i, j
        cdef int64_t index = -1
        cdef Column *places = NULL
        cdef bint is_list
        cdef PyObject *item
        cdef PyTypeObject *cls
        cdef unsigned char *p
        cdef unsigned char *next
        if type(thing) is not Rows:
            self._wary()
        header, rows = rows_of(thing)
        columns = header.columns
        width = len(columns)
        if type(rows) is not list and type(rows) is not tuple:
            rows = self._list_of(rows)
        is_list = type(rows) is list
        if is_list:
            self.frames[level].live = <PyObject *>rows
        count = len(rows)
        self._head3(0x09, count, "an array")
        self._put(0x01)
        self._charge(count * (1 + width))
        for i in range(count):
            if self.frames[level].copy != NULL:
                rows = <object>self.frames[level].copy
            row = <object>(AMF_LIST_ITEM(<PyObject *>rows, i) if is_list else AMF_TUPLE_ITEM(<PyObject *>rows, i))
            self.frames[level].place = i
            if type(row) is not tuple or AMF_TUPLE_SIZE(<PyObject *>row) != width:
                if type(row) is not list:
                    self._wary()
                row = row_of(row, columns)
            if index < 0:  # the first row: one frame serves all, since a tuple needs no copy
                self._push(NULL, <PyObject *>columns, IN_SEALED)
                self._own(level + 1, columns)
                index = self._write_traits(header.alias, columns, False)
                places = self._columns(level + 1)
                if places != NULL and width:
                    self._column(places, level + 1, width - 1)
                self.level = level
            else:
                self._traits_reference(index)
            keep(&self.objects, NULL, False)
            # What is common is written here, one row after another.
            p = self.p
            j = 0
            while j < width:
                item = AMF_TUPLE_ITEM(<PyObject *>row, j)
                if self.end - p < MARGIN:
                    p = self._more(p, MARGIN)
                cls = amf_type(item)
                if cls != &PyUnicode_Type:
                    next = scalar3(p, item, cls)
                elif places == NULL:
                    next = NULL
                else:
                    next = self._quick_text3(
                        p, item, places + (j if j < COLUMN_PLACES else COLUMN_PLACES - 1), -2 - index
                    )
                if next == NULL:
                    break
                p = next
                j += 1
            self.p = p
            if j < width:
                self.level = level + 1
                self.frames[level + 1].place = -1
                self._items3(<PyObject *>row, False, j, width, level + 1, places, -2 - index)
                self.level = level
        if index >= 0:
            self._leave(level + 1)
        self._leave(level)
        return 0

    # --- AMF0 ---------------------------------------------------------------------------------------------------------

    cdef int _arguments(self, value, bint avmplus, bint counted) except -1:
        """The arguments of a call: a strict array whose items are written each on its own."""
        cdef object item, items = value[:]  # writing one argument may run code that changes the list
        cdef Py_ssize_t i, level, count = len(items)
        self._charge(count)
        self._size0(0x0A, count)
        if counted:
            if self.slots.count < AMF0_SLOTS:
                find_or_add(&self.slots, <PyObject *>value, self.slots.count)
            keep(&self.slots, <PyObject *>value, False)
        level = self._push(NULL, NULL, IN_LIST)
        for i in range(count):
            item = items[i]
            self.frames[level].place = i
            self.base0 = level
            self.repeated = 0
            if avmplus:
                self._avmplus(item)
            else:
                self._value0(<PyObject *>item)
        self.level = level - 1
        return 0

    cdef int _avmplus(self, value) except -1:
        """A scalar in AMF0, anything else in AMF3 behind one `11`."""
        cdef int kind
        kind, payload = self._kinds.get(type(value)) or _kind_of(type(value), self._classes)
        if INTEGER <= kind < BYTES:  # it travels as another value
            self._wary()
            value = plain(value, kind, payload, self._classes, self._default, self._decimals)
            kind, payload = self._kinds.get(type(value)) or _kind_of(type(value), self._classes)
        if kind < BYTES:
            return self._value0(<PyObject *>value)
        self._put(0x11)
        return self._value3(<PyObject *>value, NULL, 0)

    cdef int _value0(self, PyObject *value) except -1:
        """One AMF0 value with its marker that is no item or member of a loop below."""
        cdef unsigned char *p = self._room(MARGIN)
        cdef PyTypeObject *cls = amf_type(value)
        if cls == &PyUnicode_Type:
            self.p = self._text0(p, value)
            return 0
        p = scalar0(p, value, cls)
        if p != NULL:
            self.p = p
            return 0
        return self._nested0(value, cls)

    cdef int _nested0(self, PyObject *value, PyTypeObject *cls) except -1:
        """A value that is no common scalar."""
        cdef int again
        if cls == &PyDict_Type:
            again = self._met0(value)
            if again >= 0:
                self._dict0(value, value, 0x03, again)
            return 0
        if cls == &PyList_Type:
            again = self._met0(value)
            if again >= 0:
                self._list0(value, value, again)
            return 0
        return self._other0(value, cls)

    cdef inline int _met0(self, PyObject *value) except -2:
        """Give an object the next slot (0; 1 for one that is written out again), or write a reference to it (-1)."""
        if not amf_shared(value) and not self.careful:
            keep(&self.slots, value, True)
            return 0
        return self._shared0(value)

    cdef int _shared0(self, PyObject *value) except -2:
        cdef unsigned char *p
        cdef int64_t slot
        if self.careful and self.slots.lazy:
            hash_lazy_ones(&self.slots)
        if self.slots.count < AMF0_SLOTS:
            slot = find_or_add(&self.slots, value, self.slots.count)
        else:
            slot = find_object(&self.slots, value)
        if slot < 0:
            keep(&self.slots, value, False)
            return 0
        if self.repeated >= self.repeats or self._is_open(value):
            p = self._room(MARGIN)
            p[0] = 0x07
            p[1] = <unsigned char>(slot >> 8)
            p[2] = <unsigned char>slot
            self.p = p + 3
            return -1
        self.careful = True  # what is in it is met a second time, though nobody else holds it
        keep(&self.slots, value, False)
        return 1

    cdef int _int0(self, PyObject *value) except -1:
        cdef object held = <object>value
        cdef int overflow = 0
        cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if not overflow and -EXACT_INT <= number <= EXACT_INT:
            return self._double(0x00, <double>number)
        self._hold()
        held = big_int(held, self._big_ints)
        return self._value0(<PyObject *>held)

    cdef inline unsigned char *_text0(self, unsigned char *p, PyObject *text) except NULL:
        """A string with its marker: 02 up to 65,535 bytes, else 0C (AMF0 specification, 2.4 and 2.14)."""
        cdef const char *data
        cdef Py_ssize_t size
        if not amf_text(text, &data, &size):
            self.p = p
            self._utf8(text, &data, &size)
        if self.end - p < size + MARGIN or size > 0xFFFF:
            p = self._more(p, size + MARGIN)
            if size > 0xFFFF:
                self._size0(0x0C, size)
                amf_copy(self.p, data, size)
                return self.p + size
        p[0] = 0x02
        p[1] = <unsigned char>(size >> 8)
        p[2] = <unsigned char>size
        amf_copy(p + 3, data, size)
        return p + 3 + size

    cdef inline int _name0(self, PyObject *text, what) except -1:
        """A name behind its length in two bytes."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        if not amf_text(text, &data, &size):
            self._utf8(text, &data, &size)
        if size > AMF0_KEY_MAX:
            self._hold()
            raise too_long_for_key(what, size)
        p = self._room(MARGIN + size)
        p[0] = <unsigned char>(size >> 8)
        p[1] = <unsigned char>size
        amf_copy(p + 2, data, size)
        self.p = p + 2 + size
        return 0

    cdef int _size0(self, int marker, Py_ssize_t size) except -1:
        """A marker and a length or count in four bytes."""
        cdef unsigned char *p
        if <uint64_t>size > 0xFFFFFFFFu:
            self._hold()
            raise too_long_for_amf0(size)
        p = self._room(MARGIN)
        p[0] = marker
        p[1] = <unsigned char>(size >> 24)
        p[2] = <unsigned char>(size >> 16)
        p[3] = <unsigned char>(size >> 8)
        p[4] = <unsigned char>size
        self.p = p + 5
        return 0

    cdef bint _is_open(self, PyObject *value) noexcept:
        """Is a value one of the containers around us?"""
        cdef Py_ssize_t i
        for i in range(self.base0 + 1, self.level + 1):
            if self.frames[i].value == value:
                return True
        return False

    cdef int _other0(self, PyObject *value, PyTypeObject *cls) except -1:
        """A value of a type that is looked up, or that is met less often.  It is held: nothing else may hold it."""
        cdef object thing = <object>value
        cdef int kind, again, form = FORM_MEMBERS
        cdef object payload = None
        cdef object other
        cdef PyObject *entry
        cdef unsigned char *p
        cdef double number
        cdef bytes data
        if cls == &PyLong_Type:
            return self._int0(value)
        self._hold()
        if cls == &PyTuple_Type:
            kind = LIST
        elif cls == DATETIME_TYPE:
            kind = DATETIME
        else:
            entry = PyDict_GetItemWithError(<PyObject *>self._kinds, <PyObject *>cls)
            if entry != NULL:
                other = <object>entry
            else:
                self._wary()
            other = _kind_of(type(thing), self._classes)
            kind, payload = other
        if kind < BYTES:
            if kind == UNDEFINED:
                return self._put(0x06)
            if kind >= NATURAL and not (kind == NATURAL and is_harmless(cls, thing, payload)):
                self._wary()
            other = plain(thing, kind, payload, self._classes, self._default, self._decimals)
            return self._value0(<PyObject *>other)
        if kind == DATETIME or kind == DATE:
            if not is_simple_date(value, kind):
                self._wary_of_date(thing)
            number = self._milliseconds(value, kind)
            p = self._room(MARGIN)
            p[0] = 0x0B
            p = amf_put_double(p + 1, number)
            p[0] = p[1] = 0
            self.p = p + 2
            return 0
        if kind == INVALID_DATE:
            return self._raw(b"\x0b\x7f\xf8\x00\x00\x00\x00\x00\x00\x00\x00", 11)
        if kind == PLAN:
            form = payload.form
            if form == FORM_WRAPPER:
                other = unwrapped(thing, self._classes)
                return self._value0(<PyObject *>other)
        if self.whole and (
            form == FORM_EXTERNAL
            or kind == BYTES
            or kind == ARRAY
            or kind == VECTOR
            or kind == DICTIONARY and not is_object(thing)
        ):
            raise NeedsAvmPlus()
        if form == FORM_EXTERNAL or kind == BYTES:
            self._put(0x11)
            return self._other3(value, cls, NULL, 0)
        if cls == &PyTuple_Type and AMF_TUPLE_SIZE(value) == 0 or cls == &PyFrozenSet_Type and not thing:
            keep(&self.slots, value, False)
            again = 0
        else:
            again = self._met0(value)
            if again < 0:
                return 0
        if kind == XML or kind == ELEMENT:
            if kind == ELEMENT:
                self._wary()
            data = utf8(str.__str__(thing) if kind == XML else payload(thing))
            self._size0(0x0F, PyBytes_GET_SIZE(data))
            self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
            self.repeated += again
            return 0
        return self._container0(thing, kind, payload, again)

    cdef inline int _opened0(self, int64_t count, bint again) except -1:
        if again:
            self.repeated += 1 + count
        return self._charge(count)

    cdef inline int _end0(self) except -1:
        """The end of an object."""
        cdef unsigned char *p = self._room(MARGIN)
        p[0] = 0
        p[1] = 0
        p[2] = 0x09
        self.p = p + 3
        return 0

    cdef int _list0(self, PyObject *value, PyObject *items, bint again) except -1:
        """A list or tuple as a strict array (AMF0 specification, 2.12)."""
        cdef bint is_list = not isinstance(<object>items, tuple)
        cdef Py_ssize_t count = AMF_LIST_SIZE(items) if is_list else AMF_TUPLE_SIZE(items)
        cdef Py_ssize_t level = self._push(value, NULL, IN_LIST)
        cdef Py_ssize_t i = 0
        cdef PyObject *item
        cdef PyTypeObject *cls
        cdef unsigned char *p
        cdef unsigned char *next
        if is_list and items == value:
            self.frames[level].live = value
        self._size0(0x0A, count)
        self._opened0(count, again)
        p = self.p
        while i < count:
            if is_list:
                if i >= AMF_LIST_SIZE(items):
                    raise EncodeError("a list became shorter while it was being encoded")
                item = AMF_LIST_ITEM(items, i)
            else:
                item = AMF_TUPLE_ITEM(items, i)
            if self.end - p < MARGIN:
                p = self._more(p, MARGIN)
            cls = amf_type(item)
            if cls == &PyUnicode_Type:
                self.frames[level].place = i
                p = self._text0(p, item)
            else:
                next = scalar0(p, item, cls)
                if next != NULL:
                    p = next
                else:
                    self.p = p
                    self.frames[level].place = i
                    self._nested0(item, cls)
                    p = self.p
                    if self.frames[level].copy != NULL:
                        items = self.frames[level].copy
            i += 1
        self.p = p
        self._pop(level)
        return 0

    cdef int _dict0(self, PyObject *value, PyObject *members, unsigned char marker, bint again) except -1:
        """A dict as an object (AMF0 specification, 2.5)."""
        cdef Py_ssize_t level = self._push(value, members, IN_PAIRS)
        if members == value:
            self.frames[level].live = value
        self._put(marker)
        self._opened0(AMF_DICT_SIZE(members), again)
        self._pairs0(members, level)
        self._end0()
        self._pop(level)
        return 0

    cdef int _pairs0(self, PyObject *members, Py_ssize_t level) except -1:
        """Names and values; the end is the caller's."""
        cdef Py_ssize_t count = AMF_DICT_SIZE(members)
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t place = 0
        cdef PyObject *key
        cdef PyObject *item
        cdef PyTypeObject *cls
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p = self.p
        cdef unsigned char *next
        cdef object _held = None
        while amf_next(members, &position, &key, &item):
            if amf_type(key) == &PyUnicode_Type and amf_text(key, &data, &size) and size <= AMF0_KEY_MAX:
                if self.end - p < size + 2 + MARGIN:
                    p = self._more(p, size + 2 + MARGIN)
                p[0] = <unsigned char>(size >> 8)
                p[1] = <unsigned char>size
                amf_copy(p + 2, data, size)
                p += 2 + size
            else:
                _held = <object>item  # the look-up of a key may run code of the user's, which may drop it
                self.p = p
                self.frames[level].place = place
                self._key0(key, members)
                p = self._room(MARGIN)
                if self.frames[level].copy != members and self.frames[level].copy != NULL:
                    members = self.frames[level].copy
                    position = nth_position(members, place + 1)
            cls = amf_type(item)
            if cls == &PyUnicode_Type:
                self.frames[level].place = place
                p = self._text0(p, item)
            else:
                next = scalar0(p, item, cls)
                if next != NULL:
                    p = next
                else:
                    self.p = p
                    self.frames[level].place = place
                    self._nested0(item, cls)
                    p = self.p
                    if self.frames[level].copy != members and self.frames[level].copy != NULL:
                        members = self.frames[level].copy
                        position = nth_position(members, place + 1)
            place += 1
            if place > count:
                break
        self.p = p
        if place != count:
            raise EncodeError("a dict changed while it was being encoded")
        return 0

    cdef int _key0(self, PyObject *key, PyObject *members) except -1:
        cdef object name = <object>key
        if type(name) is not str:
            self._wary()
            name = key_text(name, <object>members)
        return self._name0(<PyObject *>name, "a key")

    cdef int _container0(self, thing, int kind, payload, bint again) except -1:
        """Containers that are met less often than lists and dicts."""
        cdef PyObject *value = <PyObject *>thing
        cdef object alias, names, values, extra
        cdef object content
        cdef Py_ssize_t level
        if kind == DICT:
            return self._dict0(value, value, 0x03, again)
        if kind == LIST:
            return self._list0(value, value, again)
        if self.level >= self._max_depth:
            raise too_deep(self._max_depth)
        if kind == ROWS:
            return self._rows0(thing, again)
        if kind == ITERABLE or kind == ARRAY or kind == VECTOR:
            if kind == ITERABLE:
                content = self._list_of(thing)
            elif kind == ARRAY:
                self._wary()
                content = _array_items(thing)
            else:
                content = list.__getitem__(thing, slice(None))
            return self._list0(value, <PyObject *>content, again)
        level = self._push(value, NULL, IN_PAIRS)
        if kind == TYPED or kind == PLAN:
            if payload is None or payload.attributes is None:
                self._wary()
            alias, names, values, extra = members_of(thing, payload)
            content = dict(zip(names, values, strict=True))
            if extra:
                content.update(extra)
            self._own(level, content)
            if alias:
                self._put(0x10)
                self._name0(<PyObject *>alias, "an alias")
            else:
                self._put(0x03)
        elif kind == ECMA:
            content = dict.copy(thing)
            self._own(level, content)
            self._size0(0x08, ecma_count(thing))
        else:
            self._wary()
            content = mapped(thing, self.values) if kind == MAPPING else as_object(thing)
            self._own(level, content)
            self._put(0x03)
        self._opened0(len(content), again)
        self._pairs0(<PyObject *>content, level)
        self._end0()
        return self._leave(level)

    cdef int _rows0(self, thing, bint again) except -1:
        """A result set: a strict array of objects."""
        cdef Py_ssize_t level = self._push(<PyObject *>thing, NULL, IN_ROWS)
        cdef object rows, row, header
        cdef tuple columns
        cdef str alias
        cdef Py_ssize_t count, width, i, j
        if type(thing) is not Rows:
            self._wary()
        header, rows = rows_of(thing)
        columns, alias = header.columns, header.alias
        width = len(columns)
        if type(rows) is list:
            rows = rows[:]  # what is in the rows may run code that changes the original
        elif type(rows) is not tuple:
            rows = self._list_of(rows)
        count = len(rows)
        self._size0(0x0A, count)
        self._opened0(count * (1 + width), again)
        for i in range(count):
            row = rows[i]
            self.frames[level].place = i
            if type(row) is not tuple or AMF_TUPLE_SIZE(<PyObject *>row) != width:
                if type(row) is not list:
                    self._wary()
                row = row_of(row, columns)
            if self.level >= self._max_depth:
                raise too_deep(self._max_depth)
            keep(&self.slots, NULL, False)
            self._push(NULL, NULL, IN_SEALED)
            self._own(level + 1, columns)
            if alias:
                self._put(0x10)
                self._name0(<PyObject *>alias, "an alias")
            else:
                self._put(0x03)
            for j in range(width):
                self.frames[level + 1].place = j
                self._name0(AMF_TUPLE_ITEM(<PyObject *>columns, j), "a key")
                self._value0(AMF_TUPLE_ITEM(<PyObject *>row, j))
            self._end0()
            self._leave(level + 1)
        self.level = level - 1
        return 0


# Cython knows nothing of the references in `kept`.  An object that holds the encoder by which it was written (a class
# that puts its stream away, a session that has an encoder of its own) would never be freed, did the garbage collector
# not see them.
cdef traverseproc plain_traverse = (<PyTypeObject *><PyObject *>Encoder).tp_traverse
cdef inquiry plain_clear = (<PyTypeObject *><PyObject *>Encoder).tp_clear


cdef int traverse_kept(Objects *table, visitproc visit, void *arg) noexcept:
    cdef size_t i
    cdef int stop
    cdef PyObject *value
    for i in range(table.count):
        value = <PyObject *>(<uintptr_t>table.kept[i] & ~TAGS)
        if value != NULL and not <uintptr_t>table.kept[i] & UNHELD:
            stop = visit(value, arg)
            if stop:
                return stop
    return 0


cdef int traverse(PyObject *self, visitproc visit, void *arg) noexcept:
    cdef int stop = traverse_kept(&(<Encoder>self).objects, visit, arg)
    if not stop:
        stop = traverse_kept(&(<Encoder>self).slots, visit, arg)
    return stop or plain_traverse(self, visit, arg)


cdef int clear(PyObject *self) noexcept:
    (<Encoder>self).failed = True  # should a finalizer get hold of it
    free_objects(&(<Encoder>self).objects)
    free_objects(&(<Encoder>self).slots)
    return plain_clear(self)


(<PyTypeObject *><PyObject *>Encoder).tp_traverse = traverse
(<PyTypeObject *><PyObject *>Encoder).tp_clear = clear


# The marker of each kind, as it stands before a reference too; 0 where the value has to be asked.
cdef int MARKERS[26]
MARKERS[:] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0C, 0x08, 0x08, 0x08, 0, 0x0B, 0, 0,
    0x09, 0x09, 0x0A, 0x0A, 0x09, 0x0A, 0x0A, 0x11, 0x09,
]


def dumps(
    value,
    *,
    version: int = 3,
    classes: ClassRegistry | None = None,
    limits: Limits | None = None,
    strings: str = "adaptive",
    default: Callable[[Any], Any] | None = None,
    big_ints: str = "error",
    decimals: str = "float",
) -> bytes:
    """The AMF bytes of one value: `amfgate.dumps`, without a detour through Python."""
    cdef Encoder encoder = Encoder.__new__(Encoder)
    if not (
        version is 3
        and classes is None
        and limits is None
        and strings is "adaptive"
        and default is None
        and big_ints is "error"
        and decimals is "float"
    ):
        encoder._configure(version, classes, limits, strings, default, big_ints, decimals)
    return encoder._encode(value)
