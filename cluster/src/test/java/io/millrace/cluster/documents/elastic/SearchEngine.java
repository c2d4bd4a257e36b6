package io.millrace.cluster.documents.elastic;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A real Elasticsearch or OpenSearch in a process of its own, with a port and a folder of its own.
 * It ends when it is closed, and also when the JVM dies that started it.
 */
public final class SearchEngine implements AutoCloseable {
  /**
   * Its standard input is a pipe that nobody writes to. When it ends, so does the whole session;
   * when the program ends, the session does too.
   */
  private static final String WITH_US = "{ \"$@\"; kill -9 0; } & cat > /dev/null; kill -9 0";

  private static final Pattern ADDRESS =
      Pattern.compile(
          "AbstractHttpServerTransport\\].*publish_address \\{127\\.0\\.0\\.1:(\\d+)\\}");
  private static final int START_SECONDS = 180;
  private static final int LINES_KEPT = 60;
  private static final String NOBODY = "65534";

  private final Path folder;
  private final Process process;
  private final CompletableFuture<URI> started = new CompletableFuture<>();

  private SearchEngine(Path folder, List<String> command, List<String> environment)
      throws IOException {
    this.folder = folder;
    List<String> whole = new ArrayList<>(List.of("setsid", "sh", "-c", WITH_US, "sh"));
    whole.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(whole).redirectErrorStream(true).directory(folder.toFile());
    for (String variable : environment) {
      String[] parts = variable.split("=", 2);
      builder.environment().put(parts[0], parts[1]);
    }
    process = builder.start();
    Thread.ofVirtual().name("search-engine").start(this::follow);
  }

  /** Starts an Elasticsearch and waits until it serves. */
  public static SearchEngine elasticsearch() {
    try {
      Path folder = Files.createTempDirectory("elasticsearch");
      Path home = isRoot() ? copied(unpacked(), folder.resolve("home")) : unpacked();
      Path config = Files.createDirectories(folder.resolve("config"));
      Path scratch = Files.createDirectories(folder.resolve("scratch"));
      Files.copy(home.resolve("config/log4j2.properties"), config.resolve("log4j2.properties"));
      Files.writeString(
          config.resolve("elasticsearch.yml"),
          """
          xpack.security.enabled: false
          discovery.type: single-node
          network.host: 127.0.0.1
          http.port: 0
          transport.port: 0
          cluster.routing.allocation.disk.threshold_enabled: false
          path.data: %s
          path.logs: %s
          """
              .formatted(folder.resolve("data"), folder.resolve("logs")));
      Files.writeString(
          config.resolve("jvm.options"),
          """
          -Xms256m
          -Xmx512m
          -XX:+UseSerialGC
          -XX:TieredStopAtLevel=1
          -Djava.io.tmpdir=%s
          """
              .formatted(scratch));
      List<String> command = new ArrayList<>();
      if (isRoot()) {
        // It refuses to run as root.
        run("chown", "-R", NOBODY + ":" + NOBODY, folder.toString());
        command.addAll(
            List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
      }
      command.add(home.resolve("bin/elasticsearch").toString());
      return new SearchEngine(
              folder,
              command,
              List.of(
                  "HOME=" + folder,
                  "ES_JAVA_HOME=" + System.getProperty("java.home"),
                  "ES_PATH_CONF=" + config,
                  "ES_TMPDIR=" + scratch,
                  "CLI_JAVA_OPTS=-Xmx64m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"))
          .serving();
    } catch (IOException e) {
      throw new AssertionError("Elasticsearch cannot be started", e);
    }
  }

  private static Path unpacked() throws IOException {
    try (Stream<Path> unpacked = Files.list(prepared("elasticsearch"))) {
      return unpacked
          .filter(path -> path.getFileName().toString().startsWith("elasticsearch-"))
          .findFirst()
          .orElseThrow(() -> missing("elasticsearch"));
    }
  }

  /**
   * A copy for the user that it runs as, who may not be able to read where root has unpacked it.
   */
  private static Path copied(Path from, Path to) throws IOException {
    run("cp", "-r", from.toString(), to.toString());
    return to;
  }

  /** Starts an OpenSearch and waits until it serves. */
  public static SearchEngine opensearch() {
    try {
      String classes = Files.readString(prepared("opensearch.classpath")).strip();
      Path folder = Files.createTempDirectory("opensearch");
      Path config = Files.createDirectories(folder.resolve("config"));
      Path scratch = Files.createDirectories(folder.resolve("scratch"));
      Files.writeString(
          config.resolve("opensearch.yml"),
          """
          discovery.type: single-node
          network.host: 127.0.0.1
          transport.port: 0
          cluster.routing.allocation.disk.threshold_enabled: false
          """);
      List<String> command =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xms256m",
              "-Xmx512m",
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "--enable-native-access=ALL-UNNAMED",
              "-Djava.io.tmpdir=" + scratch,
              "-cp",
              classes,
              "org.codelibs.opensearch.runner.OpenSearchRunner",
              "-basePath",
              folder.resolve("home").toString(),
              "-confPath",
              config.toString(),
              "-clusterName",
              folder.getFileName().toString(),
              "-numOfNode",
              "1",
              // It adds the number of the node, and the system chooses the port.
              "-baseHttpPort",
              "-1");
      return new SearchEngine(folder, command, List.of()).serving();
    } catch (IOException e) {
      throw new AssertionError("OpenSearch cannot be started", e);
    }
  }

  /** Where it serves. */
  public URI address() {
    return started.join();
  }

  private void follow() {
    Deque<String> last = new ArrayDeque<>();
    URI address = null;
    boolean recovered = false;
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        last.add(line);
        if (last.size() > LINES_KEPT) {
          last.remove();
        }
        Matcher matcher = ADDRESS.matcher(line);
        if (matcher.find()) {
          address = URI.create("http://127.0.0.1:" + matcher.group(1));
        }
        recovered |= line.contains("GatewayService") && line.contains("recovered [");
        if (recovered && address != null) {
          started.complete(address);
        }
      }
    } catch (IOException e) {
      last.add(e.toString());
    }
    started.completeExceptionally(
        new AssertionError("it has ended; this was the last of it:\n" + String.join("\n", last)));
  }

  private SearchEngine serving() {
    try {
      started.get(START_SECONDS, TimeUnit.SECONDS);
      return this;
    } catch (ExecutionException | TimeoutException e) {
      close();
      throw new AssertionError("the engine does not serve: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new AssertionError(e);
    }
  }

  /** What the module of engines has prepared. */
  private static Path prepared(String name) {
    Path module = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    for (Path root = module; root != null; root = root.getParent()) {
      Path path = root.resolve("engines").resolve("target").resolve(name);
      if (Files.exists(path)) {
        return path;
      }
    }
    throw missing(name);
  }

  private static AssertionError missing(String name) {
    return new AssertionError(
        "engines/target/"
            + name
            + " is not there: the module engines fetches it when it is built (./mvnw verify -pl"
            + " engines), which needs an artifact repository");
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private static void run(String... command) throws IOException {
    try {
      if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
        throw new IOException("failed: " + String.join(" ", command));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** Kills it and removes its folder. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      process.waitFor(30, TimeUnit.SECONDS);
      removeFolder();
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void removeFolder() throws IOException {
    List<Path> all;
    try (Stream<Path> found = Files.walk(folder)) {
      all = found.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : all) {
      Files.deleteIfExists(path);
    }
  }
}
