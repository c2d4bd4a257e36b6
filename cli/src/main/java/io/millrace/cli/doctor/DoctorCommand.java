package io.millrace.cli.doctor;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.blobs.BlobException;
import io.millrace.cli.queues.MongoHome;
import io.millrace.cli.remote.QueuesAddress;
import io.millrace.cli.serve.ServerOptions;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.mongo.MongoCheck;
import io.millrace.server.ServerException;
import io.millrace.server.ServerSettings;
import io.millrace.server.access.AccessSettings;
import io.millrace.server.archive.ArchiveSettings;
import io.millrace.server.blobs.BlobSettings;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.ConfigurationException;
import io.millrace.server.security.FilePermissions;
import io.millrace.server.security.Token;
import io.millrace.server.store.StoreSettings;
import io.millrace.server.traces.TracesSettings;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Checks the machine and the configuration that a server would run on. Changes nothing. */
@Command(
    name = "doctor",
    description =
        "Checks whether a server can run here: configuration, data folder and its permissions,"
            + " disk, clock, limits, port, token, certificate, and the reachability of configured"
            + " back ends. It takes the options of 'millrace up' and changes nothing.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing is wrong; there may be warnings",
      "1:something is wrong",
      "2:the command line is wrong"
    })
public final class DoctorCommand extends TerminalUser implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final Duration EXPIRY = Duration.ofDays(14);
  private static final Duration CLOCK_MARGIN = Duration.ofMinutes(1);
  private static final Instant EARLIEST = Instant.parse("2026-01-01T00:00:00Z");
  private static final int SYNCS = 20;
  private static final int SLOW_SYNC_MILLIS = 10;
  private static final long LITTLE_SPACE = 1L << 30;
  private static final long NO_SPACE = 100L << 20;
  private static final long FEW_FILES = 1024;
  private static final String QUEUES = "--queues";
  private static final Set<String> NETWORK =
      Set.of("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "fuse.sshfs", "9p", "afs", "ceph");

  @Mixin private ServerOptions options = new ServerOptions();

  @Mixin private QueuesAddress queues = new QueuesAddress();

  @Option(names = "--json", description = "Prints the findings as JSON.")
  private boolean json;

  private final List<Finding> findings = new ArrayList<>();

  /** Whether a server uses the data folder, which then has the port, too. */
  private boolean inUse;

  /** How bad a finding is. */
  private enum Level {
    OK,
    WARNING,
    FAILURE
  }

  /**
   * What a check has found.
   *
   * @param check the name of what was checked
   * @param advice what to do about it; empty if nothing
   */
  private record Finding(String check, Level level, String message, String advice) {}

  @Override
  public Integer call() {
    checkJava();
    checkFiles();
    checkConfiguration();
    if (queues.isGiven()) {
      checkQueues();
    }
    print();
    out().flush();
    return findings.stream().anyMatch(each -> each.level() == Level.FAILURE)
        ? ExitCode.FAILURE
        : ExitCode.OK;
  }

  private void ok(String check, String message) {
    findings.add(new Finding(check, Level.OK, message, ""));
  }

  private void warn(String check, String message, String advice) {
    findings.add(new Finding(check, Level.WARNING, message, advice));
  }

  private void fail(String check, String message, String advice) {
    findings.add(new Finding(check, Level.FAILURE, message, advice));
  }

  private void checkJava() {
    ok(
        "java",
        "%s %s, %d processors, %d MiB of memory (a quarter of it, or -Xmx, is the heap of a server)"
            .formatted(
                System.getProperty("java.vm.name"),
                Runtime.version(),
                Runtime.getRuntime().availableProcessors(),
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                        .getTotalMemorySize()
                    >> 20));
  }

  /** The limit of open files of this process, which a server started here has too. */
  private void checkFiles() {
    Path limits = Path.of("/proc/self/limits");
    if (!Files.isReadable(limits)) {
      return;
    }
    try (Stream<String> lines = Files.lines(limits)) {
      String most =
          lines
              .filter(line -> line.startsWith("Max open files"))
              .map(line -> Arrays.asList(line.split("\\s{2,}")).get(2))
              .findFirst()
              .orElse("unlimited");
      if (!most.equals("unlimited") && Long.parseLong(most) < FEW_FILES) {
        warn(
            "open files",
            "the limit is " + most,
            "raise it, for example with ulimit -n 65536; each connection needs one");
      } else {
        ok("open files", "the limit is " + most);
      }
    } catch (IOException | NumberFormatException e) {
      warn("open files", "the limit cannot be read: " + e.getMessage(), "");
    }
  }

  private void checkConfiguration() {
    Configuration configuration;
    try {
      configuration = options.read();
    } catch (ConfigurationException e) {
      fail("configuration", String.valueOf(e.getMessage()), "correct it; nothing else was checked");
      return;
    }
    Path file = options.file();
    ok("configuration", file == null ? "no file, defaults and options" : "read " + file);
    configuration.warnings().forEach(each -> warn("configuration", each, ""));
    checkFolder(
        configuration.get(StoreSettings.SECTION).options().folder().toAbsolutePath().normalize());
    ServerSettings server = configuration.get(ServerSettings.SECTION);
    checkPort(server);
    checkToken(server);
    checkCertificate(server);
    checkBackEnds(configuration);
  }

  private void checkFolder(Path folder) {
    Path there = folder;
    while (!Files.exists(there) && there.getParent() != null) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      fail("data folder", there + " is not a folder", "choose another one with --data");
      return;
    }
    if (!Files.isWritable(there)) {
      fail(
          "data folder",
          "%s is not writable for user %s".formatted(there, System.getProperty("user.name")),
          "change its owner, or choose another one with --data");
      return;
    }
    boolean exists = there.equals(folder);
    ok("data folder", exists ? folder + " is there" : folder + " will be created");
    if (exists) {
      checkOthers(folder);
      checkUse(folder);
      checkClock(folder);
    }
    checkFileSystem(there);
    checkSyncs(there);
  }

  private void checkOthers(Path path) {
    FilePermissions.shared(path)
        .ifPresent(found ->
            warn(
                "permissions",
                "other users of this machine may use %s (%s)".formatted(path, found.permissions()),
                found.advice()));
  }

  /** Notes whether another process has the lock of the folder. */
  private void checkUse(Path folder) {
    Path lock = folder.resolve("lock");
    if (!Files.exists(lock)) {
      return;
    }
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
        FileLock taken = channel.tryLock()) {
      inUse = taken == null;
      ok("data folder", inUse ? "a server uses it now" : "no server uses it now");
    } catch (IOException e) {
      fail("data folder", lock + " cannot be locked: " + e.getMessage(), "check its owner");
    }
  }

  private void checkClock(Path folder) {
    Instant now = Instant.now();
    if (now.isBefore(EARLIEST)) {
      fail("clock", "it is " + now + " by the clock of this machine", "set the clock");
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      Instant newest = Instant.EPOCH;
      for (Path file : files.toList()) {
        Instant changed = Files.getLastModifiedTime(file).toInstant();
        newest = changed.isAfter(newest) ? changed : newest;
      }
      if (newest.isAfter(now.plus(CLOCK_MARGIN))) {
        warn(
            "clock",
            "files of the store are from %s, and it is %s".formatted(newest, now),
            "set the clock; until then the time of the store advances from where it was");
      } else {
        ok("clock", "it is " + now);
      }
    } catch (IOException e) {
      warn("clock", "the files of the store cannot be listed: " + e.getMessage(), "");
    }
  }

  private void checkFileSystem(Path folder) {
    try {
      FileStore disk = Files.getFileStore(folder);
      long free = disk.getUsableSpace();
      String space = "%d MiB are free on %s (%s)".formatted(free >> 20, disk.name(), disk.type());
      if (free < NO_SPACE) {
        fail("disk", space, "make room: a server without room refuses new work");
      } else if (free < LITTLE_SPACE) {
        warn("disk", space, "make room, or set limits of what is kept; see docs/configuration.md");
      } else {
        ok("disk", space);
      }
      String type = disk.type().toLowerCase(Locale.ROOT);
      if (NETWORK.contains(type)) {
        warn(
            "disk",
            "the folder is on a network file system (" + type + ")",
            "use a local disk: locks and syncs over a network may not keep their promises");
      } else if (type.equals("tmpfs") || type.equals("ramfs")) {
        warn("disk", "the folder is in memory (" + type + ")", "a restart of the machine loses it");
      }
    } catch (IOException e) {
      warn("disk", "the file system cannot be read: " + e.getMessage(), "");
    }
  }

  /** How long a sync takes: it bounds how soon a strict store answers. */
  private void checkSyncs(Path folder) {
    Path file = null;
    try {
      file = Files.createTempFile(folder, ".doctor", ".tmp");
      long[] nanos = new long[SYNCS];
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        for (int i = 0; i < SYNCS; i++) {
          long begun = System.nanoTime();
          channel.write(ByteBuffer.allocate(4096), 0);
          channel.force(false);
          nanos[i] = System.nanoTime() - begun;
        }
      }
      Arrays.sort(nanos);
      double millis = nanos[SYNCS / 2] / 1e6;
      String speed =
          String.format(Locale.ROOT, "a sync takes %.2f ms (median of %d)", millis, SYNCS);
      if (millis > SLOW_SYNC_MILLIS) {
        warn("disk", speed, "a strict store waits for one before each answer: use a faster disk");
      } else {
        ok("disk", speed);
      }
    } catch (IOException e) {
      fail("disk", "a file cannot be written in " + folder + ": " + e.getMessage(), "");
    } finally {
      delete(file);
    }
  }

  private void delete(@Nullable Path file) {
    if (file != null) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        warn("disk", file + " cannot be deleted: " + e.getMessage(), "delete it");
      }
    }
  }

  private void checkPort(ServerSettings server) {
    String where = server.address() + " port " + server.port();
    try {
      new ServerSocket(0, 1, InetAddress.getByName(server.address())).close();
    } catch (IOException e) {
      fail(
          "port",
          "%s is no address of this machine: %s".formatted(server.address(), e.getMessage()),
          "correct --address");
      return;
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(server.address(), server.port()));
      ok("port", server.port() == 0 ? "a server chooses one that is free" : where + " is free");
    } catch (IOException e) {
      if (inUse && e instanceof BindException) {
        ok("port", where + " is in use, as the data folder is");
        return;
      }
      fail(
          "port",
          "%s cannot be used: %s".formatted(where, e.getMessage()),
          "stop what uses it, a server perhaps, or choose another one with --port");
    }
  }

  private void checkToken(ServerSettings server) {
    Path file = server.tokenFile();
    if (file == null) {
      return;
    }
    try {
      String _ = Token.check(file);
      ok("token", file + " holds one");
      checkOthers(file);
    } catch (ServerException e) {
      fail("token", String.valueOf(e.getMessage()), "correct server.token-file, or make the file");
    }
  }

  private void checkCertificate(ServerSettings server) {
    try {
      Instant expires = server.certificateExpires();
      if (expires == null) {
        return;
      }
      if (expires.isBefore(Instant.now().plus(EXPIRY))) {
        warn("certificate", "it ends at " + expires, "renew it; a server reads it again by itself");
      } else {
        ok("certificate", "it ends at " + expires);
      }
    } catch (ServerException e) {
      fail("certificate", String.valueOf(e.getMessage()), "correct server.tls.…");
    }
  }

  private void checkBackEnds(Configuration configuration) {
    StoreSettings store = configuration.get(StoreSettings.SECTION);
    checkStore(store);
    checkBlobs(configuration.get(BlobSettings.SECTION), store.shards());
    String archive = configuration.get(ArchiveSettings.SECTION).url();
    if (archive != null && archive.startsWith("postgresql://")) {
      checkReachable("archive.url", URI.create(archive), 5432);
    } else if (archive != null && archive.startsWith("mariadb://")) {
      checkReachable("archive.url", URI.create(archive), 3306);
    }
    AccessSettings.Oidc oidc = configuration.get(AccessSettings.SECTION).oidc();
    if (oidc != null) {
      checkReachable("access.oidc.issuer", oidc.issuer(), 443);
    }
    URI traces = configuration.get(TracesSettings.SECTION).endpoint();
    if (traces != null) {
      checkReachable("traces.endpoint", traces, "https".equals(traces.getScheme()) ? 443 : 80);
    }
  }

  private void checkStore(StoreSettings store) {
    try {
      String database = store.checkDatabase();
      if (database != null) {
        ok("store.url", database + " can be used");
      }
    } catch (JournalException e) {
      fail(
          "store.url",
          String.valueOf(e.getMessage()),
          "correct store.url or the settings of the database; see docs/stores.md");
    }
  }

  private void checkBlobs(BlobSettings blobs, int shards) {
    try {
      String place = blobs.checkPlace(shards);
      if (place != null) {
        ok("blobs.url", place + " can be read");
      }
    } catch (BlobException e) {
      fail(
          "blobs.url",
          String.valueOf(e.getMessage()),
          "correct blobs.url, its user or its access key; see docs/stores.md");
    } catch (ConfigurationException e) {
      fail("blobs.name", String.valueOf(e.getMessage()), "choose a shorter name");
    }
  }

  /** The database of {@code --queues}, whose driver is loaded only for this. */
  private void checkQueues() {
    for (MongoCheck.Finding each : MongoHome.check(queues)) {
      switch (each.level()) {
        case OK -> ok(QUEUES, each.message());
        case WARNING -> warn(QUEUES, each.message(), each.advice());
        case FAILURE -> fail(QUEUES, each.message(), each.advice());
      }
    }
  }

  private void checkReachable(String key, URI target, int usualPort) {
    String host = target.getHost();
    if (host == null) {
      fail(key, target + " names no host", "correct " + key);
      return;
    }
    int at = target.getPort() < 0 ? usualPort : target.getPort();
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    InetSocketAddress endpoint = new InetSocketAddress(bare, at);
    if (endpoint.isUnresolved()) {
      fail(key, "the name " + host + " is not known", "correct " + key + ", or the name service");
      return;
    }
    try (Socket socket = new Socket()) {
      socket.connect(endpoint, (int) TIMEOUT.toMillis());
      ok(key, "%s port %d accepts connections; credentials were not tried".formatted(host, at));
    } catch (IOException e) {
      fail(
          key,
          "%s port %d cannot be reached: %s".formatted(host, at, e.getMessage()),
          "start it, or correct " + key);
    }
  }

  private void print() {
    if (json) {
      JsonMapper mapper = new JsonMapper();
      ObjectNode report = mapper.createObjectNode();
      ArrayNode list = report.putArray("findings");
      for (Finding each : findings) {
        list.addObject()
            .put("check", each.check())
            .put("level", each.level().name().toLowerCase(Locale.ROOT))
            .put("message", each.message())
            .put("advice", each.advice());
      }
      out().println(mapper.writeValueAsString(report));
      return;
    }
    for (Finding each : findings) {
      out()
          .printf(
              "%-8s %s: %s%n",
              each.level().name().toLowerCase(Locale.ROOT), each.check(), each.message());
      if (!each.advice().isEmpty()) {
        out().println("         " + each.advice());
      }
    }
  }
}
