package io.millrace.cli.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.cli.Shell;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.registry.Queues;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A server in this process, commands that call it, and a node that the test controls. */
public final class QueueFixture implements AutoCloseable {
  private static final Duration LEASE = Duration.ofMinutes(5);

  private final Path folder;
  private MillraceServer server;
  private Queues queues;

  /** On a folder. */
  public QueueFixture(Path folder) {
    this.folder = folder;
    server = start(folder, 0);
    queues = queues(server);
  }

  private static MillraceServer start(Path folder, int port) {
    return MillraceServer.start(
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of("store.data", folder.toString(), "server.port", Integer.toString(port))));
  }

  private static Queues queues(MillraceServer server) {
    return Queues.in(server.store(), Clock.systemUTC(), new SecureRandom());
  }

  /** Stops the server and starts another on its folder and port. */
  public void restart() {
    int port = server.port();
    server.close();
    server = start(folder, port);
    queues = queues(server);
  }

  /** Stops the server. */
  public void stop() {
    server.close();
  }

  /** The blobs of the server. */
  public BlobStore blobs() {
    return server.blobs();
  }

  /** The queues of the server. */
  public Queues queues() {
    return queues;
  }

  /** Where it listens. */
  public String address() {
    return "http://127.0.0.1:" + server.port();
  }

  /** Runs a command on it. */
  public Shell.CommandResult run(String... command) {
    return runReading("", command);
  }

  /** Runs a command on it that reads {@code input}. */
  public Shell.CommandResult runReading(String input, String... command) {
    String[] all =
        Stream.concat(Stream.of(command), Stream.of("--server", address())).toArray(String[]::new);
    return Shell.run(input.getBytes(StandardCharsets.UTF_8), all);
  }

  /** Runs a command on it that writes to {@code out} and {@code err}; gives its exit code. */
  public int runWriting(OutputStream out, OutputStream err, String... command) {
    String[] all =
        Stream.concat(Stream.of(command), Stream.of("--server", address())).toArray(String[]::new);
    return Shell.runWriting(out, err, all);
  }

  /** Registers a node. */
  public NodeRecord node(String name) {
    NodeIdentity presence = new NodeIdentity("instance", "host", "1", List.of("shell"));
    return queues.nodes().take(name, null, presence).orElseThrow();
  }

  /** Claims a task of a queue and starts it. */
  public Run start(NodeRecord node, String queue) {
    Queue found = queues.queues().find(queue).orElseThrow();
    Run run = queues.runs().claim(node, found, 1, LEASE).getFirst();
    return queues.runs().start(run, "runner", LEASE);
  }

  /** Ends a task. */
  public void finish(Run run, int status, String stdout, String stderr) {
    TaskOutput output = new TaskOutput(new Output.Text(stdout), new Output.Text(stderr));
    queues.runs().finish(run, new Report(status, output, List.of(), null));
  }

  @Override
  public void close() {
    server.close();
  }
}
