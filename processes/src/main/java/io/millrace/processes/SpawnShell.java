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

/** A shell that runs one program after the other, {@code spawn.sh}, as its other side sees it. */
final class SpawnShell {
  private static final Logger LOG = LoggerFactory.getLogger(SpawnShell.class);

  private final Process shell;
  private final OutputStream requests;
  private final Consumer<SpawnShell> whenIdle;
  private volatile @Nullable Spawned current;

  private SpawnShell(Process shell, Consumer<SpawnShell> whenIdle) {
    this.shell = shell;
    this.requests = shell.getOutputStream();
    this.whenIdle = whenIdle;
  }

  /**
   * Starts one.
   *
   * @param whenIdle is told whenever a program is over and another one may come
   */
  static SpawnShell start(Tools tools, Consumer<SpawnShell> whenIdle) throws IOException {
    List<String> command = new ArrayList<>(tools.session());
    command.addAll(List.of(tools.sh(), "-c", Scripts.SPAWN, "millrace-spawn", tools.tee()));
    command.addAll(tools.session());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    SpawnShell shell = new SpawnShell(process, whenIdle);
    Thread.ofPlatform().daemon().name("millrace-spawn-" + process.pid()).start(shell::listen);
    return shell;
  }

  boolean isAlive() {
    return shell.isAlive();
  }

  /** Runs a program; what comes of it is told to {@code program}. To be called while it is idle. */
  void run(String key, Output output, Spawned program) throws IOException {
    current = program;
    String line = key + " " + output.name() + " " + program.folder.path() + "\n";
    requests.write(line.getBytes(StartScript.CHARSET));
    requests.flush();
  }

  private void listen() {
    try (BufferedReader news = shell.inputReader(StartScript.CHARSET)) {
      for (String line = news.readLine(); line != null; line = news.readLine()) {
        Spawned program = current;
        if (program != null) {
          take(List.of(line.split(" ", -1)), program);
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("a shell that starts programs is not understood any more", e);
      shell.destroy();
    }
    // Neither it nor a part of it that still could tell is alive any more.
    Spawned last = current;
    if (last != null) {
      last.lost();
    }
  }

  private void take(List<String> words, Spawned program) {
    switch (words.getFirst()) {
      case "r" -> {
        program.folder.removeStart();
        program.begun.complete(
            new ProcessFolder.Identities(
                new ProcessIdentity(Long.parseLong(words.get(1)), words.get(2)),
                new ProcessIdentity(Long.parseLong(words.get(3)), words.get(4))));
      }
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
      LOG.debug("a shell that starts programs has ended", e);
    }
  }
}
