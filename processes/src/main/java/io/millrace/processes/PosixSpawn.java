package io.millrace.processes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/**
 * A start by {@code posix_spawn}: no copy of this process and no other program in between. The new
 * process leads a group of its own in this process's session, has no descriptors but the three, and
 * no signal blocked; those that this process handles do in it what they do by default.
 */
final class PosixSpawn {
  private static final int SETPGROUP = 0x02;
  private static final int SETSIGMASK = 0x08;
  private static final int RIGHTS = 0666;

  // More than any system takes for these; on glibc they are 336, 80 and 128 bytes.
  private static final int OPAQUE_BYTES = 1024;

  private static final List<MemoryLayout> ONE = List.of(Libc.POINTER);
  private static final List<MemoryLayout> TWO = List.of(Libc.POINTER, Libc.POINTER);
  private static final List<MemoryLayout> NUMBERED = List.of(Libc.POINTER, Libc.INT);

  private static final MethodHandle SPAWN =
      Libc.function("posix_spawn", Collections.nCopies(6, Libc.POINTER));
  private static final MethodHandle INIT = action("init", ONE);
  private static final MethodHandle DESTROY = action("destroy", ONE);
  private static final MethodHandle OPEN =
      action("addopen", List.of(Libc.POINTER, Libc.INT, Libc.POINTER, Libc.INT, Libc.INT));
  private static final MethodHandle CHDIR = action("addchdir_np", TWO);
  private static final MethodHandle CLOSE_FROM = action("addclosefrom_np", NUMBERED);
  private static final MemorySegment ATTRIBUTES = attributes();

  private PosixSpawn() {}

  private static MethodHandle action(String name, List<MemoryLayout> parameters) {
    return Libc.function("posix_spawn_file_actions_" + name, parameters);
  }

  private static MethodHandle attribute(String name, List<MemoryLayout> parameters) {
    return Libc.function("posix_spawnattr_" + name, parameters);
  }

  /** How a file becomes a descriptor. */
  enum Mode {
    /** To be read. */
    READ(0),
    /** To be written at its end, made where it is not there. */
    APPEND(1 | 64 | 1024),
    /** To be written anew, made where it is not there. */
    WRITE(1 | 64 | 512);

    private final int flags;

    Mode(int flags) {
      this.flags = flags;
    }
  }

  /** A file and how it is opened. */
  record Opened(Path file, Mode mode) {}

  /**
   * What is started.
   *
   * @param file the program
   * @param words its name for itself and its arguments
   * @param environment {@code NAME=VALUE} each
   * @param directory its working directory
   * @param streams its standard input, output and error
   */
  record Program(
      Path file,
      List<String> words,
      List<byte[]> environment,
      Path directory,
      List<Opened> streams) {}

  /** Its pid; or the error number, negative, where it cannot be started and nothing is left. */
  static int start(Program program) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment actions = arena.allocate(OPAQUE_BYTES, 16);
      MemorySegment pid = arena.allocate(Libc.INT);
      int failure = (int) INIT.invokeExact(actions);
      if (failure != 0) {
        return -failure;
      }
      try {
        failure = describe(program, actions, arena);
        if (failure == 0) {
          MemorySegment words =
              pointers(arena, program.words().stream().map(PosixSpawn::bytes).toList());
          MemorySegment environment = pointers(arena, program.environment());
          failure =
              (int)
                  SPAWN.invokeExact(
                      pid, text(arena, program.file()), actions, ATTRIBUTES, words, environment);
        }
      } finally {
        int _ = (int) DESTROY.invokeExact(actions);
      }
      return failure == 0 ? pid.get(Libc.INT, 0) : -failure;
    } catch (Throwable e) {
      throw Libc.impossible(e);
    }
  }

  private static int describe(Program program, MemorySegment actions, Arena arena)
      throws Throwable {
    int failure = (int) CHDIR.invokeExact(actions, text(arena, program.directory()));
    for (int i = 0; failure == 0 && i < program.streams().size(); i++) {
      Opened stream = program.streams().get(i);
      failure =
          (int)
              OPEN.invokeExact(actions, i, text(arena, stream.file()), stream.mode().flags, RIGHTS);
    }
    return failure == 0 ? (int) CLOSE_FROM.invokeExact(actions, program.streams().size()) : failure;
  }

  private static MemorySegment attributes() {
    MemorySegment attributes = Arena.global().allocate(OPAQUE_BYTES, 16);
    MemorySegment none = Arena.global().allocate(OPAQUE_BYTES, 16);
    try {
      int failures =
          (int) attribute("init", ONE).invokeExact(attributes)
              | (int) attribute("setsigmask", TWO).invokeExact(attributes, none)
              | (int)
                  attribute("setflags", NUMBERED).invokeExact(attributes, SETPGROUP | SETSIGMASK);
      if (failures != 0) {
        throw new UnsupportedOperationException("no attributes of a start: " + failures);
      }
      return attributes;
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw Libc.impossible(e);
    }
  }

  private static MemorySegment pointers(Arena arena, List<byte[]> texts) {
    MemorySegment all = arena.allocate(Libc.POINTER, texts.size() + 1L);
    for (int i = 0; i < texts.size(); i++) {
      all.setAtIndex(Libc.POINTER, i, Libc.text(arena, texts.get(i)));
    }
    return all;
  }

  private static MemorySegment text(Arena arena, Path path) {
    return Libc.text(arena, bytes(path.toString()));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StartRequest.CHARSET);
  }
}
