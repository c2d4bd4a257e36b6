package io.millrace.cluster.documents.elastic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** How an engine is started in its own folder, possibly several times. */
interface SearchEngineLaunch {
  /**
   * The command that starts it.
   *
   * @param port the port; 0 for a free one
   */
  ProcessBuilder at(int port) throws IOException;

  /** Settings of a single engine for tests, with little memory and a fast start. */
  List<String> JVM = List.of("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  /** The user that runs it if the tests run as root. */
  String NOBODY = "65534";

  /** An Elasticsearch in this folder, without security. */
  static SearchEngineLaunch elasticsearch(Path folder) throws IOException {
    Path config = Files.createDirectories(folder.resolve("config"));
    return elasticsearch(folder, config, "xpack.security.enabled: false\n");
  }

  /** An Elasticsearch in this folder, with the keys and users that were created there. */
  static SearchEngineLaunch securedElasticsearch(Path folder) throws IOException {
    return elasticsearch(folder, folder.resolve("config"), SearchEngineSecurity.settings());
  }

  private static SearchEngineLaunch elasticsearch(Path folder, Path config, String security)
      throws IOException {
    Path home = isRoot() ? copied(unpacked(), folder.resolve("home")) : unpacked();
    Path scratch = Files.createDirectories(folder.resolve("scratch"));
    Files.copy(home.resolve("config/log4j2.properties"), config.resolve("log4j2.properties"));
    Path settings = Files.createFile(config.resolve("elasticsearch.yml"));
    Files.writeString(
        config.resolve("jvm.options"),
        String.join("\n", JVM) + "\n-Djava.io.tmpdir=" + scratch + "\n");
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      // Elasticsearch refuses to run as root.
      run("chown", "-R", NOBODY + ":" + NOBODY, folder.toString());
      command.addAll(
          List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    }
    command.add(home.resolve("bin/elasticsearch").toString());
    return port -> {
      Files.writeString(
          settings,
          """
          %s
          discovery.type: single-node
          network.host: 127.0.0.1
          http.port: %d
          transport.port: 0
          cluster.routing.allocation.disk.threshold_enabled: false
          path.data: %s
          path.logs: %s
          """
              .formatted(security, port, folder.resolve("data"), folder.resolve("logs")));
      ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
      builder.environment().put("HOME", folder.toString());
      builder.environment().put("ES_JAVA_HOME", System.getProperty("java.home"));
      builder.environment().put("ES_PATH_CONF", config.toString());
      builder.environment().put("ES_TMPDIR", scratch.toString());
      builder
          .environment()
          .put("CLI_JAVA_OPTS", "-Xmx64m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
      return builder;
    };
  }

  private static Path unpacked() throws IOException {
    try (Stream<Path> unpacked = Files.list(prepared("elasticsearch"))) {
      return unpacked
          .filter(path -> path.getFileName().toString().startsWith("elasticsearch-"))
          .findFirst()
          .orElseThrow(() -> missing("elasticsearch"));
    }
  }

  /** A copy for the user that it runs as, which may not be able to read root's folder. */
  private static Path copied(Path from, Path to) throws IOException {
    run("cp", "-r", from.toString(), to.toString());
    return to;
  }

  /** An OpenSearch in this folder. */
  static SearchEngineLaunch opensearch(Path folder) throws IOException {
    String classes = Files.readString(prepared("opensearch.classpath")).strip();
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
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Djava.io.tmpdir=" + scratch));
    command.addAll(List.of("-cp", classes, "org.codelibs.opensearch.runner.OpenSearchRunner"));
    command.addAll(List.of("-basePath", folder.resolve("home").toString()));
    command.addAll(List.of("-confPath", config.toString()));
    command.addAll(List.of("-clusterName", folder.getFileName().toString(), "-numOfNode", "1"));
    return port -> {
      List<String> whole = new ArrayList<>(command);
      // OpenSearch appends the number of the node.
      whole.addAll(List.of("-baseHttpPort", Integer.toString(port - 1)));
      return new ProcessBuilder(whole).directory(folder.toFile());
    };
  }

  /** The folder that the module {@code engines} has prepared. */
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

  /** Runs a command that must succeed. */
  static void run(String... command) throws IOException {
    try {
      if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
        throw new IOException("failed: " + String.join(" ", command));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }
}
