# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Emulator states through a C buffer: the bytes that PyBoy itself writes and reads, without a Python call for each."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from pyboy.core.mb cimport Motherboard
from pyboy.pyboy cimport PyBoy
from pyboy.utils cimport IntIOInterface

BUILT_FOR = "@PYBOY@"


cdef class Tape(IntIOInterface):
    """A growing buffer that the emulator writes to, or bytes that it reads from."""

    cdef uint8_t* data
    cdef int64_t size
    cdef int64_t room
    cdef int64_t place
    cdef bint owned

    def __cinit__(self):
        self.data = NULL
        self.size = self.room = self.place = 0
        self.owned = True

    def __init__(self):
        pass  # PyBoy's own wants a file

    def __dealloc__(self):
        if self.owned:
            free(self.data)

    cdef int grow(self, int64_t least) except -1:
        cdef int64_t room = max(least, 2 * self.room, 1 << 18)
        cdef uint8_t* data = <uint8_t*> realloc(self.data, room)
        if data == NULL:
            raise MemoryError()
        self.data = data
        self.room = room
        return 0

    cdef inline int64_t put(self, uint64_t value, int width) except -1:
        cdef int place
        if self.size + width > self.room:
            self.grow(self.size + width)
        for place in range(width):
            self.data[self.size + place] = (value >> (8 * place)) & 0xFF
        self.size += width
        return width

    cdef inline uint64_t get(self, int width) except? 0:
        cdef int place
        cdef uint64_t value = 0
        if self.place + width > self.size:
            raise EOFError("the state ends too early")
        for place in range(width):
            value |= <uint64_t> self.data[self.place + place] << (8 * place)
        self.place += width
        return value

    cpdef int64_t write(self, uint8_t value) except -1:
        if self.size == self.room:
            self.grow(self.size + 1)
        self.data[self.size] = value
        self.size += 1
        return 1

    cpdef int64_t write_16bit(self, uint16_t value) except -1:
        return self.put(value, 2)

    cpdef int64_t write_32bit(self, uint32_t value) except -1:
        return self.put(value, 4)

    cpdef int64_t write_64bit(self, uint64_t value) except -1:
        return self.put(value, 8)

    cpdef uint8_t read(self) except? -1:
        if self.place >= self.size:
            raise EOFError("the state ends too early")
        self.place += 1
        return self.data[self.place - 1]

    cpdef uint16_t read_16bit(self) except? -1:
        return self.get(2)

    cpdef uint32_t read_32bit(self) except? -1:
        return self.get(4)

    cpdef uint64_t read_64bit(self) except? -1:
        return self.get(8)

    cpdef int seek(self, int64_t place) except -1:
        self.place = place
        return 0

    cpdef int flush(self) except -1:
        return 0

    cpdef int64_t tell(self) except -1:
        return self.place


cdef class States:
    """Saves and loads one emulator."""

    cdef PyBoy pyboy
    cdef Tape writing

    def __init__(self, PyBoy pyboy not None):
        self.pyboy = pyboy
        self.writing = Tape()

    def tick(self, int frames, bint render):
        """Let frames pass without sound, and draw the last if asked: PyBoy's own tick, which takes Python's lock at
        every frame, so that a busy thread of ours would hold it up each time."""
        cdef PyBoy pyboy = self.pyboy
        cdef Motherboard mb = pyboy.mb
        if frames < 1 or pyboy.stopped or pyboy.queued_input or pyboy.gameshark.enabled or mb.breakpoints:
            return pyboy.tick(frames, render, False)
        pyboy._handle_events(pyboy.events)
        pyboy.events = []
        if pyboy.paused or pyboy.quitting:
            return pyboy.tick(frames, render, False)
        with nogil:
            mb.sound.disable_sampling = True
            for left in range(frames, 0, -1):
                mb.lcd.frame_done = False
                mb.lcd.disable_renderer = left > 1 or not render
                mb.sound.clear_buffer()
                while mb.tick():  # an instruction that PyBoy uses for breakpoints; there are none
                    mb.breakpoint_reinject()
                    mb.breakpoint_singlestep = mb.breakpoint_singlestep_latch
                pyboy.frame_count += 1
        if mb.sgb.enabled:
            mb.sgb.tick_frame()
        return True

    def save(self):
        """Return the emulator's whole state."""
        self.writing.size = 0
        self.pyboy.mb.save_state(self.writing)
        return PyBytes_FromStringAndSize(<char*> self.writing.data, self.writing.size)

    def open_memory(self, uint8_t[::1] image not None, const uint8_t[::1] ram not None):
        """Return what copies RAM into an image of the address space."""
        cdef Memory memory = Memory()
        if image.shape[0] != 0x10000 or ram.shape[0] != 0x2000:
            raise ValueError("an image has 64 KiB, and the RAM 8 KiB")
        memory.mb, memory.image, memory.ram = self.pyboy.mb, image, ram
        return memory

    def load(self, bytes data not None):
        """Return to a state; return how many of its bytes were left over."""
        cdef Tape reading = Tape()
        reading.owned = False
        reading.data = <uint8_t*> PyBytes_AS_STRING(data)
        reading.size = len(data)
        self.pyboy.mb.load_state(reading)
        return reading.size - reading.place


cdef class Memory:
    """Reads the bytes that a state is made of."""

    cdef Motherboard mb
    cdef uint8_t[::1] image
    cdef const uint8_t[::1] ram

    def copy(self):
        """Bring the image up to date: RAM, the screen's control and its palette."""
        memcpy(&self.image[0xC000], &self.ram[0], 0x2000)
        self.image[0xFF40] = self.mb.getitem(0xFF40)
        self.image[0xFF47] = self.mb.getitem(0xFF47)

    def pick(self, const int[::1] spans not None):
        """Return the bytes of the image from each start to its stop, one after the other."""
        cdef Py_ssize_t at, size = 0
        cdef int start, stop
        for at in range(0, spans.shape[0] - 1, 2):
            start, stop = spans[at], spans[at + 1]
            if not 0 <= start <= stop <= 0x10000:
                raise ValueError("a span lies outside the address space")
            size += stop - start
        cdef bytes picked = PyBytes_FromStringAndSize(NULL, size)
        cdef char* place = PyBytes_AS_STRING(picked)
        for at in range(0, spans.shape[0] - 1, 2):
            start, stop = spans[at], spans[at + 1]
            if stop > start:
                memcpy(place, &self.image[start], stop - start)
                place += stop - start
        return picked
