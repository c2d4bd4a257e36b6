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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
  private static final long FEW_FILES = 1024;
  private static final String QUEUES = "--queues";

  @Mixin private ServerOptions options = new ServerOptions();

  @Mixin private QueuesAddress queues = new QueuesAddress();

  @Option(names = "--json", description = "Prints the findings as JSON.")
  private boolean json;

  private final Findings findings = new Findings();

  /** Whether a server uses the data folder, which then has the port, too. */
  private boolean inUse;

  @Override
  public Integer call() {
    checkJava();
    checkFiles();
    checkConfiguration();
    if (queues.isGiven()) {
      checkQueues();
    }
    findings.print(out(), json);
    out().flush();
    return findings.haveFailure() ? ExitCode.FAILURE : ExitCode.OK;
  }

  private void checkJava() {
    findings.ok(
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
        findings.warn(
            "open files",
            "the limit is " + most,
            "raise it, for example with ulimit -n 65536; each connection needs one");
      } else {
        findings.ok("open files", "the limit is " + most);
      }
    } catch (IOException | NumberFormatException e) {
      findings.warn("open files", "the limit cannot be read: " + e.getMessage(), "");
    }
  }

  private void checkConfiguration() {
    Configuration configuration;
    try {
      configuration = options.read();
    } catch (ConfigurationException e) {
      findings.fail(
          "configuration", String.valueOf(e.getMessage()), "correct it; nothing else was checked");
      return;
    }
    Path file = options.file();
    findings.ok("configuration", file == null ? "no file, defaults and options" : "read " + file);
    configuration.warnings().forEach(each -> findings.warn("configuration", each, ""));
    Path folder = configuration.get(StoreSettings.SECTION).options().folder();
    inUse = new FolderCheck(findings).check(folder.toAbsolutePath().normalize());
    ServerSettings server = configuration.get(ServerSettings.SECTION);
    checkPort(server);
    checkToken(server);
    checkCertificate(server);
    checkBackEnds(configuration);
  }

  private void checkPort(ServerSettings server) {
    String where = server.address() + " port " + server.port();
    try {
      new ServerSocket(0, 1, InetAddress.getByName(server.address())).close();
    } catch (IOException e) {
      findings.fail(
          "port",
          "%s is no address of this machine: %s".formatted(server.address(), e.getMessage()),
          "correct --address");
      return;
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(server.address(), server.port()));
      findings.ok(
          "port", server.port() == 0 ? "a server chooses one that is free" : where + " is free");
    } catch (IOException e) {
      if (inUse && e instanceof BindException) {
        findings.ok("port", where + " is in use, as the data folder is");
        return;
      }
      findings.fail(
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
      findings.ok("token", file + " holds one");
      findings.checkOthers(file);
    } catch (ServerException e) {
      findings.fail(
          "token", String.valueOf(e.getMessage()), "correct server.token-file, or make the file");
    }
  }

  private void checkCertificate(ServerSettings server) {
    try {
      Instant expires = server.certificateExpires();
      if (expires == null) {
        return;
      }
      if (expires.isBefore(Instant.now().plus(EXPIRY))) {
        findings.warn(
            "certificate", "it ends at " + expires, "renew it; a server reads it again by itself");
      } else {
        findings.ok("certificate", "it ends at " + expires);
      }
    } catch (ServerException e) {
      findings.fail("certificate", String.valueOf(e.getMessage()), "correct server.tls.…");
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
        findings.ok("store.url", database + " can be used");
      }
    } catch (JournalException e) {
      findings.fail(
          "store.url",
          String.valueOf(e.getMessage()),
          "correct store.url or the settings of the database; see docs/stores.md");
    }
  }

  private void checkBlobs(BlobSettings blobs, int shards) {
    try {
      String place = blobs.checkPlace(shards);
      if (place != null) {
        findings.ok("blobs.url", place + " can be read");
      }
    } catch (BlobException e) {
      findings.fail(
          "blobs.url",
          String.valueOf(e.getMessage()),
          "correct blobs.url, its user or its access key; see docs/stores.md");
    } catch (ConfigurationException e) {
      findings.fail("blobs.name", String.valueOf(e.getMessage()), "choose a shorter name");
    }
  }

  /** The database of {@code --queues}, whose driver is loaded only for this. */
  private void checkQueues() {
    for (MongoCheck.Finding each : MongoHome.check(queues)) {
      switch (each.level()) {
        case OK -> findings.ok(QUEUES, each.message());
        case WARNING -> findings.warn(QUEUES, each.message(), each.advice());
        case FAILURE -> findings.fail(QUEUES, each.message(), each.advice());
      }
    }
  }

  private void checkReachable(String key, URI target, int usualPort) {
    String host = target.getHost();
    if (host == null) {
      findings.fail(key, target + " names no host", "correct " + key);
      return;
    }
    int at = target.getPort() < 0 ? usualPort : target.getPort();
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    InetSocketAddress endpoint = new InetSocketAddress(bare, at);
    if (endpoint.isUnresolved()) {
      findings.fail(
          key, "the name " + host + " is not known", "correct " + key + ", or the name service");
      return;
    }
    try (Socket socket = new Socket()) {
      socket.connect(endpoint, (int) TIMEOUT.toMillis());
      findings.ok(
          key, "%s port %d accepts connections; credentials were not tried".formatted(host, at));
    } catch (IOException e) {
      findings.fail(
          key,
          "%s port %d cannot be reached: %s".formatted(host, at, e.getMessage()),
          "start it, or correct " + key);
    }
  }
}
