package io.millrace.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process that runs one program after the other, {@code spawn.pl}, as its other side sees it. */
final class Supervisor {
  private static final Logger LOG = LoggerFactory.getLogger(Supervisor.class);

  private final Process process;
  private final OutputStream requests;
  private final Consumer<Supervisor> whenIdle;
  private volatile @Nullable Spawned current;

  private Supervisor(Process process, Consumer<Supervisor> whenIdle) {
    this.process = process;
    this.requests = process.getOutputStream();
    this.whenIdle = whenIdle;
  }

  /**
   * Starts one.
   *
   * @param perl the program that it is
   * @param whenIdle is told whenever a program is over and another one may come
   */
  static Supervisor start(Tools tools, String perl, Consumer<Supervisor> whenIdle)
      throws IOException {
    List<String> command = new ArrayList<>(tools.session());
    // Bytes are bytes, whatever the environment asks of perl.
    command.addAll(List.of(perl, "-C0", "-e", Scripts.SPAWN));
    command.add(Long.toString(ProcessHandle.current().pid()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    Supervisor supervisor = new Supervisor(process, whenIdle);
    Thread.ofPlatform().daemon().name("millrace-spawn-" + process.pid()).start(supervisor::listen);
    return supervisor;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Runs a program; what comes of it is told to {@code program}. To be called while it is idle. */
  void run(byte[] request, Spawned program) throws IOException {
    current = program;
    requests.write(request);
    requests.flush();
  }

  private void listen() {
    try (BufferedReader news = process.inputReader(StartRequest.CHARSET)) {
      for (String line = news.readLine(); line != null; line = news.readLine()) {
        Spawned program = current;
        if (program != null) {
          take(line, program);
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("a process that starts programs is not understood any more", e);
      process.destroy();
    }
    // Neither it nor a part of it that still could tell is alive any more.
    Spawned last = current;
    if (last != null) {
      last.lost();
    }
  }

  private void take(String line, Spawned program) {
    List<String> words = List.of(line.split(" ", -1));
    switch (words.getFirst()) {
      case "r" ->
          program.begun.complete(
              new ProcessFolder.Identities(
                  new ProcessIdentity(Long.parseLong(words.get(1)), words.get(2)),
                  new ProcessIdentity(Long.parseLong(words.get(3)), words.get(4)),
                  program.output));
      case "n" -> program.neverBegins(line.substring(2));
      case "t" -> program.isTaken();
      case "e" -> program.ended(new ExitStatus.Exited(Integer.parseInt(words.get(1))));
      default -> {
        current = null;
        program.drained();
        whenIdle.accept(this);
      }
    }
  }

  /** Ends it after the program that it runs, if any, of which is still heard. */
  void close() {
    try {
      requests.close();
    } catch (IOException e) {
      LOG.debug("a process that starts programs has ended", e);
    }
  }
}
