package io.millrace.examples.wordcount;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The processes of the server and the workers. Not thread-safe, except {@link #close}. */
final class WordcountProcesses implements AutoCloseable {
  private static final Pattern READY = Pattern.compile("ready at http://127\\.0\\.0\\.1:([0-9]+)");
  private static final int MAX_UNEXPECTED_ENDS = 20;

  private final List<String> millrace;
  private final Path folder;
  private final Map<Long, Process> workers = new ConcurrentHashMap<>();
  private final long firstClient;
  private volatile Process server;
  private volatile boolean closed;
  private int port;
  private long started;
  private int unexpectedEnds;

  /**
   * Starts a server.
   *
   * @param millrace the command that starts Millrace, to which arguments are added
   * @param folder the folder for its data and the logs
   * @param firstClient the client id of the first worker; the others follow
   */
  WordcountProcesses(List<String> millrace, Path folder, long firstClient) throws IOException {
    this.millrace = millrace;
    this.folder = folder;
    this.firstClient = firstClient;
    server = startServer();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + port);
  }

  private Process startServer() throws IOException {
    Process process =
        start(
            folder.resolve("server.log"),
            "up",
            "--data",
            folder.resolve("data").toString(),
            "--port",
            Integer.toString(port),
            "--stop-with",
            Long.toString(ProcessHandle.current().pid()));
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.find()) {
        port = Integer.parseInt(ready.group(1));
        return process;
      }
    }
    throw new WordcountException("the server did not start: " + lastLine("server.log"));
  }

  /** Starts a process of Millrace; its standard error goes to {@code log}. */
  private Process start(Path log, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(millrace);
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().put("MILLRACE_NO_BUILD", "1");
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }

  /** Kills the server with SIGKILL and returns its process id. */
  long killServer() throws InterruptedException {
    return kill(server);
  }

  /** Restarts the server on the same folder and port, and returns its process id. */
  long restartServer() throws IOException {
    server = startServer();
    return server.pid();
  }

  /** Starts another worker and returns its client id. */
  long addWorker() throws IOException {
    long client = firstClient + started++;
    Process worker =
        start(
            folder.resolve("workers.log"),
            "demo",
            "wordcount-worker",
            "--server",
            address().toString(),
            "--client",
            Long.toString(client),
            "--parent",
            Long.toString(ProcessHandle.current().pid()));
    workers.put(client, worker);
    if (closed) {
      worker.destroyForcibly();
    }
    return client;
  }

  /** The client ids of the running workers. */
  List<Long> workers() {
    return workers.keySet().stream().sorted().toList();
  }

  /** The number of a worker, from 1, in the order in which they started. */
  long number(long client) {
    return client - firstClient + 1;
  }

  /** Kills a worker with SIGKILL and returns its process id. */
  long killWorker(long client) throws InterruptedException {
    Process worker = workers.remove(client);
    if (worker == null) {
      throw new IllegalArgumentException("no worker " + client);
    }
    return kill(worker);
  }

  private static long kill(Process process) throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
    return process.pid();
  }

  /** Restarts processes that ended unexpectedly. */
  void restartEnded() throws IOException {
    for (long client : workers()) {
      Process worker = workers.get(client);
      if (worker != null && !worker.isAlive()) {
        workers.remove(client);
        endedUnexpectedly("a worker", "workers.log");
        addWorker();
      }
    }
    if (!server.isAlive()) {
      endedUnexpectedly("the server", "server.log");
      restartServer();
    }
  }

  private void endedUnexpectedly(String who, String log) {
    if (++unexpectedEnds > MAX_UNEXPECTED_ENDS) {
      throw new WordcountException(who + " ended repeatedly: " + lastLine(log));
    }
  }

  private String lastLine(String log) {
    try {
      List<String> lines = Files.readAllLines(folder.resolve(log), StandardCharsets.UTF_8);
      return lines.isEmpty() ? "its log is empty" : lines.getLast();
    } catch (IOException e) {
      return "its log cannot be read: " + e;
    }
  }

  /** Kills all processes and waits for their ends. */
  @Override
  public void close() {
    closed = true;
    Collection<Process> all = workers.values();
    all.forEach(Process::destroyForcibly);
    server.destroyForcibly();
    for (Process process : all) {
      process.onExit().join();
    }
    server.onExit().join();
  }
}
