"""The time from an input to the first frame that differs, in the real window on a display of its own.

    cargo build && python3 benches/latency.py target/debug/attune

Each input is sent by the X server itself, and the picture of the screen is read every few milliseconds until it
differs. Before each input the picture has been the same for a while. The first window has the least that the program
can show, two lines about a file with an issue: the time to its frame is what the system takes for any frame, and what
the other inputs take beyond it is printed too.

Needs Xvfb and the libraries X11 and Xtst, on a machine that does nothing else.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = (1280, 720)
# Seconds between two readings of the screen.
INTERVAL = 0.004
# Seconds without a change after which the window is at rest; a text cursor that blinks is no change.
REST = 0.8
# A change of fewer bytes than a letter has is the cursor of a text field, or a rounding.
LEAST_BYTES = 300
# Seconds after which an input has had no effect.
PATIENCE = 3.0
# Seconds in which a lesson opens and trains.
OPENING = 6.0
BUTTON_LEFT = 1


class Display:
    """A virtual display, whose picture can be read and to which input can be sent."""

    def __init__(self):
        read, write = os.pipe()
        screen = f"{SIZE[0]}x{SIZE[1]}x24"
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-nolisten", "tcp"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(write)
        self.name = f":{os.read(read, 16).decode().strip()}"
        self.x11, self.xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        pointer, integer, unsigned = ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong
        for function, result, arguments in [
            (self.x11.XOpenDisplay, pointer, [ctypes.c_char_p]),
            (self.x11.XDefaultRootWindow, unsigned, [pointer]),
            (self.x11.XGetImage, ctypes.POINTER(Image), [pointer, unsigned] + 4 * [integer] + [unsigned, integer]),
            (self.x11.XStringToKeysym, unsigned, [ctypes.c_char_p]),
            (self.x11.XKeysymToKeycode, ctypes.c_ubyte, [pointer, unsigned]),
            (self.x11.XQueryTree, integer, [pointer, unsigned] + 4 * [pointer]),
            (self.x11.XSetInputFocus, integer, [pointer, unsigned, integer, unsigned]),
            (self.x11.XSync, integer, [pointer, integer]),
            (self.x11.XFlush, integer, [pointer]),
            (self.xtst.XTestFakeKeyEvent, integer, [pointer, ctypes.c_uint, integer, unsigned]),
            (self.xtst.XTestFakeButtonEvent, integer, [pointer, ctypes.c_uint, integer, unsigned]),
            (self.xtst.XTestFakeMotionEvent, integer, [pointer, integer, integer, integer, unsigned]),
        ]:
            function.restype, function.argtypes = result, arguments
        self.display = self.x11.XOpenDisplay(self.name.encode())
        self.root = self.x11.XDefaultRootWindow(self.display)

    def focus(self):
        """Gives the keyboard to the window, for there is no window manager that would."""
        of_parent, current_time = 2, 0
        ignored, windows, count = ctypes.c_ulong(), ctypes.POINTER(ctypes.c_ulong)(), ctypes.c_uint()
        of_ignored = ctypes.byref(ignored)
        self.x11.XQueryTree(
            self.display, self.root, of_ignored, of_ignored, ctypes.byref(windows), ctypes.byref(count)
        )
        for place in range(count.value):
            self.x11.XSetInputFocus(self.display, windows[place], of_parent, current_time)
        self.x11.XSync(self.display, 0)

    def picture(self):
        all_planes, z_pixmap = 2**32 - 1, 2
        image = self.x11.XGetImage(self.display, self.root, 0, 0, *SIZE, all_planes, z_pixmap)
        size = image.contents.bytes_per_line * image.contents.height
        picture = ctypes.string_at(image.contents.data, size)
        self.x11.XDestroyImage(image)
        return picture

    def key(self, name):
        *modifiers, key = name.split("+")
        codes = [self.x11.XKeysymToKeycode(self.display, self.x11.XStringToKeysym(part.encode())) for part in modifiers + [key]]
        for is_pressed, order in [(1, codes), (0, codes[::-1])]:
            for code in order:
                self.xtst.XTestFakeKeyEvent(self.display, code, is_pressed, 0)
        self.x11.XFlush(self.display)

    def move(self, at):
        self.xtst.XTestFakeMotionEvent(self.display, -1, *at, 0)
        self.x11.XFlush(self.display)

    def button(self, is_pressed):
        self.xtst.XTestFakeButtonEvent(self.display, BUTTON_LEFT, is_pressed, 0)
        self.x11.XFlush(self.display)

    def click(self):
        self.button(1)
        self.button(0)

    def settle(self):
        """Waits until the window is at rest, and returns its picture."""
        picture, since = self.picture(), time.perf_counter()
        while time.perf_counter() - since < REST:
            time.sleep(0.02)
            now = self.picture()
            if differs(picture, now):
                picture, since = now, time.perf_counter()
        return now

    def until_changed(self, before):
        """Returns the seconds until the picture differs from `before`."""
        begun = time.perf_counter()
        while (passed := time.perf_counter() - begun) < PATIENCE:
            if differs(before, self.picture()):
                return passed
            time.sleep(INTERVAL)
        return None


class Image(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_int), ("height", ctypes.c_int), ("xoffset", ctypes.c_int), ("format", ctypes.c_int),
        ("data", ctypes.c_void_p), ("byte_order", ctypes.c_int), ("bitmap_unit", ctypes.c_int),
        ("bitmap_bit_order", ctypes.c_int), ("bitmap_pad", ctypes.c_int), ("depth", ctypes.c_int),
        ("bytes_per_line", ctypes.c_int),
    ]


def differs(before, now):
    """Returns whether two pictures differ in more than a text cursor."""
    if before == now:
        return False
    difference = int.from_bytes(before, "little") ^ int.from_bytes(now, "little")
    different = difference.to_bytes(len(before), "little")
    return len(different) - different.count(0) >= LEAST_BYTES


def opened(display, program, path, state):
    """Opens `path` in the window, and waits until it is at rest."""
    command = [program, path, "--size", f"{SIZE[0]}x{SIZE[1]}", "--theme", "dark", "--state", state]
    # wgpu would note a backtrace for every lock.
    environment = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    window = subprocess.Popen(command, env=environment | {"DISPLAY": display.name}, stderr=subprocess.DEVNULL)
    display.move((SIZE[0] - 2, SIZE[1] - 2))
    time.sleep(OPENING)
    display.focus()
    display.settle()
    return window


def measured(display, name, prepare, act, times, empty):
    """Prints the least, the median and the largest of several measurements of one input, and returns the median.

    `empty` is the median of the empty frame, once it is known.
    """
    seconds = []
    for turn in range(times):
        prepare(display, turn)
        before = display.settle()
        act(display, turn)
        seconds.append(display.until_changed(before))
    if None in seconds:
        print(f"{name:34} no change {seconds.count(None)} times of {times}", flush=True)
        return None
    least, median, most = (1e3 * sorted(seconds)[place] for place in (0, times // 2, -1))
    beyond = "" if empty is None else f"   {median - empty:+4.0f} to the empty frame"
    print(f"{name:34} {median:5.0f} ms   {least:4.0f} to {most:4.0f}{beyond}", flush=True)
    return median


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", help="the program that `cargo build` writes")
    arguments.add_argument("--times", type=int, default=7, help="measurements of each input")
    arguments.add_argument("--shots", help="a folder for pictures of the windows, to check the places of the clicks")
    options = arguments.parse_args()
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp())
    display, empty = Display(), None
    try:
        for lesson, inputs in LESSONS.items():
            with tempfile.TemporaryDirectory() as state:
                path = ROOT / lesson
                if lesson == EMPTY_WINDOW:
                    path = Path(state) / "issue.ron"
                    path.write_text("(")
                window = opened(display, options.program, path, state)
                print(lesson)
                for name, prepare, act in inputs:
                    median = measured(display, name, prepare, act, options.times, empty)
                    empty = median if empty is None else empty
                    if options.shots:
                        shot = Path(options.shots) / f"{Path(lesson).stem}-{name.replace(' ', '-')}.png"
                        subprocess.run(["import", "-display", display.name, "-window", "root", shot], check=False)
                window.kill()
                window.wait()
    finally:
        display.server.kill()


def at(*places):
    """Returns what moves the pointer to the places in turn."""
    return lambda display, turn: display.move(places[turn % len(places)])


def key(*names):
    """Returns what presses the keys in turn."""
    return lambda display, turn: display.key(names[turn % len(names)])


def clicked(*place):
    """Returns what clicks a place before the first measurement."""
    def prepare(display, turn):
        if turn == 0:
            display.move(place)
            display.settle()
            display.click()
    return prepare


def held(*place):
    """Returns what presses the button at a place before the first measurement, and holds it."""
    def prepare(display, turn):
        if turn == 0:
            display.move(place)
            display.settle()
            display.button(1)
    return prepare


def click(display, turn):
    display.click()



EMPTY = (SIZE[0] - 2, SIZE[1] - 2)
EMPTY_WINDOW = "an empty window"
# The inputs of each lesson: a name, what is done before each measurement, and the input. Places are those at `SIZE`.
LESSONS = {
    EMPTY_WINDOW: [("pointer over its button", at(EMPTY), at((398, 90)))],
    "lessons/apple.ron": [
        ("click on a word", at((806, 120), (997, 120)), click),
        ("Space", at(EMPTY), key("space")),
        ("arrow in the sentence", at(EMPTY), key("Left", "Right")),
        ("letter in the sentence", clicked(740, 22), key("x")),
    ],
    "lessons/layers.ron": [("L", at(EMPTY), key("l"))],
    "tests/fixtures/notebook.ron": [
        ("letter in a cell", clicked(300, 456), key("w")),
        ("slider", held(85, 374), at((140, 374), (180, 374))),
    ],
}

if __name__ == "__main__":
    main()
