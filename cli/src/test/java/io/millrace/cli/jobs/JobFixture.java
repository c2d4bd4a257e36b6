package io.millrace.cli.jobs;

import io.millrace.cli.Shell;
import io.millrace.client.jobs.JobHandler;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A job server in this process, commands that call it, and workers for it. */
final class JobFixture implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final Path folder;
  private final Map<String, String> settings = new HashMap<>();
  private final List<JobWorker> workers = new ArrayList<>();
  private MillraceServer server;

  /** On a folder, with further settings. */
  JobFixture(Path folder, String... keysAndValues) {
    this.folder = folder;
    for (int i = 0; i < keysAndValues.length; i += 2) {
      settings.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    server = start(0);
  }

  private MillraceServer start(int port) {
    Map<String, String> flags = new HashMap<>(settings);
    flags.put("store.data", folder.toString());
    flags.put("server.port", Integer.toString(port));
    return MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, flags));
  }

  /** Stops the server and starts another on its folder and port. */
  void restart() {
    int port = server.port();
    server.close();
    server = start(port);
  }

  String address() {
    return "http://127.0.0.1:" + server.port();
  }

  Shell.CommandResult run(String... command) {
    return runReading("", command);
  }

  Shell.CommandResult runReading(String input, String... command) {
    String[] all =
        Stream.concat(Stream.of(command), Stream.of("--server", address())).toArray(String[]::new);
    return Shell.run(input.getBytes(StandardCharsets.UTF_8), all);
  }

  /** The JSON that a command prints. */
  JsonNode shown(String... command) {
    Shell.CommandResult ran =
        run(Stream.concat(Stream.of(command), Stream.of("--json")).toArray(String[]::new));
    if (ran.code() != 0) {
      throw new AssertionError(ran.err());
    }
    return JSON.readTree(ran.out());
  }

  JobWorkerOptions options(String name) {
    return JobWorkerOptions.at(URI.create(address()), name);
  }

  /** A worker that is let in. */
  JobWorker worker(JobWorkerOptions options, JobHandler handler) throws Exception {
    JobWorker worker = JobWorker.start(options, handler);
    workers.add(worker);
    worker.onReady().get(60, TimeUnit.SECONDS);
    return worker;
  }

  @Override
  public void close() {
    workers.forEach(worker -> worker.stop(Duration.ZERO));
    server.close();
  }
}
