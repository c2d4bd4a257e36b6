package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.store.StoreOptions.Journaling;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A server that the bench has started, and stops when closed. */
final class ServerProcess implements AutoCloseable {
  private static final String RESIDENT = "VmRSS:";
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final String HEAP = "heap ";

  private final Process process;
  private final int port;
  private final Duration startTime;

  /** What a server of {@link #store} has said of its heap. */
  private final BlockingQueue<Long> heaps = new LinkedBlockingQueue<>();

  /** Whether it has had no load yet, so that its code is still to be compiled. */
  private boolean cold;

  private ServerProcess(Process process, int port, Duration startTime) {
    this.process = process;
    this.port = port;
    this.startTime = startTime;
  }

  /**
   * A server with a store in {@code folder}, ready for requests.
   *
   * @param settings further ones, each as KEY=VALUE
   */
  static ServerProcess store(
      Scenario.Context context, Path folder, Journaling journaling, String... settings)
      throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(folder.toString());
    arguments.add(journaling.name().toLowerCase(Locale.ROOT));
    arguments.addAll(List.of(settings));
    return java(context, arguments);
  }

  /** The same HTTP listener with only an echo behind it. */
  static ServerProcess echo(Scenario.Context context) throws IOException {
    return java(context, List.of());
  }

  /** Java with the options of servers; the main class is to be added. */
  static List<String> java(Scenario.Context context) {
    List<String> command = new ArrayList<>();
    command.add(javaProgram());
    command.addAll(
        context.serverArguments().isEmpty() ? ownArguments() : context.serverArguments());
    return command;
  }

  /** Java with the options of all other commands; see {@code build/java-options}. */
  static List<String> command() {
    return List.of(
        javaProgram(),
        "-XX:+UseCompactObjectHeaders",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xmx512m");
  }

  private static String javaProgram() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private static ServerProcess java(Scenario.Context context, List<String> arguments)
      throws IOException {
    List<String> command = java(context);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(BenchServer.class.getName());
    command.addAll(arguments);
    long began = System.nanoTime();
    Path log = context.folder().resolve("server.log");
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      if (line.startsWith("port ")) {
        int port = Integer.parseInt(line.substring("port ".length()));
        ServerProcess started =
            new ServerProcess(process, port, Duration.ofNanos(System.nanoTime() - began));
        started.cold = true;
        Thread.startVirtualThread(() -> started.hear(said));
        return started;
      }
    }
    process.destroy();
    throw new BenchException("the server did not start: " + Files.readString(log));
  }

  /** Reads and discards the rest of the output, since a server blocks when its pipe is full. */
  static void readOn(BufferedReader said) {
    try (said) {
      said.transferTo(Writer.nullWriter());
    } catch (IOException _) {
      // It has ended.
    }
  }

  /**
   * The options of this JVM that affect its speed, with its AOT cache, which is used only with the
   * options under which it was made.
   */
  private static List<String> ownArguments() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(it -> it.startsWith("-X") || it.startsWith("--"))
        .filter(it -> !it.contains("FlightRecord"))
        .toList();
  }

  /** Redis that syncs each change; null if it is not installed. */
  static @Nullable ServerProcess redis(Path folder) throws IOException {
    int port = freePort();
    return peer(
        folder,
        port,
        "redis-server --bind 127.0.0.1 --port " + port + " --appendonly yes --appendfsync always",
        List.of("--dir", folder.toString(), "--save", ""));
  }

  /** Beanstalkd that syncs each change; null if it is not installed. */
  static @Nullable ServerProcess beanstalkd(Path folder) throws IOException {
    int port = freePort();
    return peer(
        folder,
        port,
        "beanstalkd -l 127.0.0.1 -p " + port + " -f 0",
        List.of("-b", folder.toString()));
  }

  private static @Nullable ServerProcess peer(
      Path folder, int port, String words, List<String> more) throws IOException {
    List<String> command = new ArrayList<>(List.of(words.split(" ", -1)));
    command.addAll(more);
    if (!isInstalled(command.getFirst())) {
      return null;
    }
    long began = System.nanoTime();
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    while (System.nanoTime() - began < START_NANOS && process.isAlive()) {
      try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
        return new ServerProcess(process, port, Duration.ofNanos(System.nanoTime() - began));
      } catch (IOException _) {
        Thread.onSpinWait();
      }
    }
    process.destroy();
    throw new BenchException(
        command.getFirst() + " did not start: " + Files.readString(folder.resolve("log")));
  }

  private static boolean isInstalled(String program) {
    String path = System.getenv().getOrDefault("PATH", "");
    for (String folder : path.split(File.pathSeparator, -1)) {
      if (Files.isExecutable(Path.of(folder, program))) {
        return true;
      }
    }
    return false;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  int port() {
    return port;
  }

  /** Whether this is a JVM that has had no load yet; asked once, before the first load. */
  boolean isFirstLoad() {
    boolean first = cold;
    cold = false;
    return first;
  }

  /** How long the start took until it was ready. */
  Duration startTime() {
    return startTime;
  }

  /** Its resident memory in bytes; 0 if the system does not tell it. */
  long residentBytes() throws IOException {
    return residentBytes(process);
  }

  static long residentBytes(Process process) throws IOException {
    Path status = Path.of("/proc", Long.toString(process.pid()), "status");
    if (!Files.isReadable(status)) {
      return 0;
    }
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith(RESIDENT)) {
        String kibibytes = line.substring(RESIDENT.length(), line.indexOf("kB")).strip();
        return Long.parseLong(kibibytes) << 10;
      }
    }
    return 0;
  }

  /** The bytes in use on the heap of a server of {@link #store} after a collection. */
  long liveBytes() throws IOException, InterruptedException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    Long bytes = heaps.poll(60, TimeUnit.SECONDS);
    if (bytes == null) {
      throw new BenchException("the server does not say how much lives on its heap");
    }
    return bytes;
  }

  /** Notes the sizes of the heap, and discards the rest of the output. */
  private void hear(BufferedReader said) {
    try (said) {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        if (line.startsWith(HEAP)) {
          heaps.add(Long.parseLong(line.substring(HEAP.length())));
        }
      }
    } catch (IOException _) {
      // It has ended.
    }
  }

  /** The processor time that it has used so far; zero if the system does not tell it. */
  Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (process.info().command().orElse("").endsWith("java")) {
        process.waitFor(60, TimeUnit.SECONDS);
      }
    } catch (IOException _) {
      // It has ended by itself.
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    process.destroy();
    process.onExit().join();
  }
}
