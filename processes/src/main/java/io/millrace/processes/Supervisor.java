package io.millrace.processes;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
  private volatile @Nullable Program current;

  private Supervisor(Process process, Consumer<Supervisor> whenIdle) {
    this.process = process;
    this.requests = process.getOutputStream();
    this.whenIdle = whenIdle;
  }

  /** A program that a supervisor runs, or is about to. */
  static final class Program {
    final ProcessFolder folder;
    private final Output output;

    /** Done with its identity once it has begun; fails if it never does. */
    final CompletableFuture<ProcessFolder.Identities> begun = new CompletableFuture<>();

    /** How it ended, once its output is complete. */
    final CompletableFuture<ExitStatus> end = new CompletableFuture<>();

    private volatile ExitStatus status = new ExitStatus.Unknown();
    private volatile boolean folderTaken;

    Program(ProcessFolder folder, Output output) {
      this.folder = folder;
      this.output = output;
    }

    /** Whether its folder is that of another process. */
    boolean isFolderTaken() {
      return folderTaken;
    }

    private void folderTaken() {
      folderTaken = true;
      neverBegins("the folder " + folder.path() + " is that of another process");
    }

    /** It has ended; something that it left behind may hold its output open. */
    private void ended(ExitStatus how) {
      status = how;
      neverBegins("it ended before it began");
      end.completeOnTimeout(how, ProcessLauncher.DRAIN_TIME.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Its output is complete. */
    private void drained() {
      neverBegins("its files cannot be used");
      end.complete(status);
    }

    /** The supervisor has died, so that only the program's files can tell about it. */
    private void lost() {
      if (folder.began().isPresent()) {
        ProcessFolder.Identities found = folder.identities().orElseThrow();
        begun.complete(found);
        var _ = RunningProcess.endOfFound(folder, found).thenAccept(end::complete);
      } else {
        neverBegins("the process that starts programs has ended");
      }
    }

    /** It will not begin, unless it has. */
    private void neverBegins(String why) {
      if (!begun.isDone()) {
        begun.completeExceptionally(new CannotStartException(why));
      }
    }
  }

  /**
   * Starts one.
   *
   * @param perl the program that it is
   * @param whenIdle is told whenever a program is over and another one may come
   */
  static Supervisor start(SystemTools tools, String perl, Consumer<Supervisor> whenIdle)
      throws IOException {
    List<String> command = new ArrayList<>(tools.session());
    // Bytes are bytes, whatever the environment asks of perl.
    command.addAll(List.of(perl, "-C0", "-e", SystemTools.Scripts.SPAWN));
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

  /**
   * Runs a program. To be called while the supervisor is idle.
   *
   * @param fed whether there is something in its standard input
   * @param program is told what becomes of it
   */
  void run(ProcessSpec spec, boolean fed, Program program) throws IOException {
    current = program;
    requests.write(request(spec, fed));
    requests.flush();
  }

  /**
   * What {@code spawn.pl} reads. The length of the rest in ten digits, and then, with the character
   * 0 between them: what to keep of the output, the folder, whether there is a standard input, the
   * directory, how many variables follow, name and value of each, the command and its arguments.
   */
  private static byte[] request(ProcessSpec spec, boolean fed) {
    List<String> parts = new ArrayList<>();
    parts.add(spec.output().name());
    parts.add(spec.folder().toString());
    parts.add(fed ? "1" : "");
    parts.add(spec.directory().toString());
    parts.add(Integer.toString(spec.environment().size()));
    spec.environment()
        .forEach((name, value) -> {
          parts.add(name);
          parts.add(value);
        });
    parts.addAll(spec.command());
    byte[] rest = String.join("\0", parts).getBytes(ProcessSpec.CHARSET);
    ByteArrayOutputStream request = new ByteArrayOutputStream(rest.length + 10);
    request.writeBytes(
        String.format(Locale.ROOT, "%010d", rest.length).getBytes(StandardCharsets.US_ASCII));
    request.writeBytes(rest);
    return request.toByteArray();
  }

  private void listen() {
    try (BufferedReader reports = process.inputReader(ProcessSpec.CHARSET)) {
      for (String line = reports.readLine(); line != null; line = reports.readLine()) {
        Program program = current;
        if (program != null) {
          take(line, program);
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("a process that starts programs is not understood any more", e);
      process.destroy();
    }
    // Neither it nor a part of it that still could tell is alive any more.
    Program last = current;
    if (last != null) {
      last.lost();
    }
  }

  private void take(String line, Program program) {
    List<String> words = List.of(line.split(" ", -1));
    switch (words.getFirst()) {
      case "r" ->
          program.begun.complete(
              new ProcessFolder.Identities(
                  new ProcessIdentity(Long.parseLong(words.get(1)), words.get(2)),
                  new ProcessIdentity(Long.parseLong(words.get(3)), words.get(4)),
                  program.output));
      case "n" -> program.neverBegins(line.substring(2));
      case "t" -> program.folderTaken();
      case "e" -> program.ended(new ExitStatus.Exited(Integer.parseInt(words.get(1))));
      default -> {
        current = null;
        program.drained();
        whenIdle.accept(this);
      }
    }
  }

  /** Ends it after the program that it runs, if any, about which it still reports. */
  void close() {
    try {
      requests.close();
    } catch (IOException e) {
      LOG.debug("a process that starts programs has ended", e);
    }
  }
}
