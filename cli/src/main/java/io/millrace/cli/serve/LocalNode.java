package io.millrace.cli.serve;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import io.millrace.blobs.BlobStore;
import io.millrace.cli.queues.RunnerCommand.RunnerLaunch;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.UsageException;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.LocalMachine;
import io.millrace.queues.node.NodeOptions;
import io.millrace.queues.node.Plugins;
import io.millrace.queues.node.Runners;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.runner.LocalRunners;
import io.millrace.store.TaskStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Creates an execution node on this machine. */
final class LocalNode {
  /**
   * The name and place of a node.
   *
   * @param name its name
   * @param data the folder for the state of its runners
   * @param server the server that its runners connect to
   * @param workers the options for runners
   */
  record NodeSettings(String name, Path data, ServerLocation server, RunnerOptions workers) {}

  /** So short that the name, with up to four bytes per character, fits into a document key. */
  private static final int LONGEST_NAME = 128;

  private LocalNode() {}

  /**
   * Checks the name of a node and returns it.
   *
   * @param option the option that it is given with
   * @param given null for the host name
   */
  static String name(String option, @Nullable String given) {
    String name = given == null ? LocalMachine.hostName() : given;
    if (name.isBlank()) {
      throw new UsageException(option + " is empty");
    }
    if (name.length() > LONGEST_NAME) {
      throw new UsageException(option + " is longer than " + LONGEST_NAME + " characters");
    }
    if (ObjectId.isValid(name)) {
      throw new UsageException(option + " looks like an id: " + name);
    }
    return name;
  }

  /** The folder of the node of a shard, within that of the node of all. */
  static Path folder(Path ofAll, int shard) {
    return shard == 0 ? ofAll : ofAll.resolve("shard-" + shard);
  }

  /** The stores of the server. */
  record Stores(TaskStore tasks, BlobStore blobs) {}

  /** Creates a node; {@code ready} is called when it first has its configuration. */
  static ExecutionNode create(NodeSettings settings, Stores stores, Runnable ready) {
    Queues queues = Queues.in(stores.tasks(), Clock.systemUTC(), new SecureRandom());
    ExecutionNode node =
        create(settings, queues, runners(settings, RunnerLaunch.command(settings.server())), ready);
    node.recoverOutputBy(OutputRecovery.from(stores.blobs(), queues::newId));
    return node;
  }

  /** Creates the runners of a node. */
  static Runners runners(NodeSettings settings, LocalRunners.Options.Command command) {
    return LocalRunners.create(
        LocalRunners.Options.in(settings.data().resolve("runners"), command)
            .withIdle(settings.workers().warm())
            .withPlugins(settings.workers().folder()));
  }

  /** Creates a node of these queues; nothing recovers the output of its lost runners. */
  static ExecutionNode create(
      NodeSettings settings, QueueBackend queues, Runners runners, Runnable ready) {
    NodeOptions nodeOptions = NodeOptions.of(settings.name(), UUID.randomUUID().toString());
    ExecutionNode node =
        new ExecutionNode(
            nodeOptions,
            queues,
            runners,
            new PolledPlugins(settings.workers().folder(), System::nanoTime),
            LocalMachine.look());
    LogLevel level = new LogLevel((LoggerContext) LoggerFactory.getILoggerFactory());
    node.configure(new ConfigListener(level, ready)::apply);
    return node;
  }

  /** Applies the stored log level, and runs {@code ready} at the first configuration. */
  private static final class ConfigListener {
    private final LogLevel level;
    private final Runnable ready;
    private boolean told;

    ConfigListener(LogLevel level, Runnable ready) {
      this.level = level;
      this.ready = ready;
    }

    void apply(NodeConfig config) {
      level.set(config.logLevel());
      if (!told) {
        told = true;
        ready.run();
      }
    }
  }

  /**
   * The plugins of a folder, which a node checks every second. A large folder, which takes longer
   * to check, is checked less often, so that an idle node uses little processor time. Classes of
   * Perl are loaded once after each change, and once a minute while that fails. For one node.
   */
  static final class PolledPlugins implements Plugins {
    /** A check takes up to a hundredth of the time. */
    private static final int REST = 100;

    private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger LOG = LoggerFactory.getLogger(PolledPlugins.class);

    private final PluginFolder folder;
    private final LongSupplier nanos;
    private final Map<String, PerlCheck> perl = new HashMap<>();
    private boolean missing;
    private @Nullable String mark;
    private long dueNanos;

    PolledPlugins(PluginFolder folder, LongSupplier nanos) {
      this.folder = folder;
      this.nanos = nanos;
    }

    @Override
    public Set<String> names() {
      Set<String> names = new TreeSet<>(folder.names());
      List<String> ofPerl = names.stream().filter(this::isPerl).toList();
      ofPerl.forEach(this::check);
      ofPerl.stream().filter(name -> !check(name).isUsable()).forEach(names::remove);
      return names;
    }

    private boolean isPerl(String name) {
      return !PluginFolder.BUILT_IN.contains(name) && folder.isPerl(name);
    }

    private PerlCheck check(String name) {
      return perl.computeIfAbsent(name, _ -> new PerlCheck(name));
    }

    /** A class of Perl, loaded in a process of its own meanwhile. */
    private final class PerlCheck {
      private static final Duration PATIENCE = Duration.ofSeconds(30);
      private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

      /** A node must not stand still for long. */
      private static final long WAIT_MILLIS = 1500;

      private final CompletableFuture<Optional<String>> problem = new CompletableFuture<>();
      private final long begunNanos = nanos.getAsLong();

      PerlCheck(String name) {
        Thread.ofVirtual()
            .name("perl-check")
            .start(() -> {
              try {
                Optional<String> found = folder.perlProblem(name, PATIENCE);
                found.ifPresent(it -> LOG.warn("the Perl plugin {} is not offered: {}", name, it));
                problem.complete(found);
              } catch (InterruptedException | RuntimeException e) {
                problem.complete(Optional.of(e.toString()));
              }
            });
      }

      boolean isUsable() {
        try {
          return problem.get(WAIT_MILLIS, TimeUnit.MILLISECONDS).isEmpty();
        } catch (TimeoutException | ExecutionException e) {
          return false;
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return false;
        }
      }

      boolean isToRepeat() {
        return problem.getNow(Optional.empty()).isPresent()
            && nanos.getAsLong() - begunNanos > AGAIN_NANOS;
      }

      String shown() {
        return problem.isDone() ? problem.getNow(Optional.empty()).orElse("usable") : "";
      }
    }

    @Override
    public Map<String, PluginDeclaration> declarations() {
      return folder.declarations();
    }

    @Override
    public boolean has(String name) {
      return folder.has(name) && (!isPerl(name) || check(name).isUsable());
    }

    @Override
    public String mark() {
      long begun = nanos.getAsLong();
      String known = mark;
      if (known == null || begun - dueNanos >= 0) {
        logMissingFolder();
        String found = folder.mark();
        long ended = nanos.getAsLong();
        dueNanos = ended + Math.min(REST * (ended - begun), LONGEST_REST_NANOS);
        if (!found.equals(known)) {
          perl.clear();
        }
        known = found;
        mark = found;
      }
      perl.replaceAll((name, check) -> check.isToRepeat() ? new PerlCheck(name) : check);
      StringBuilder all = new StringBuilder(known);
      new TreeMap<>(perl)
          .forEach((name, check) -> all.append(' ').append(name).append(check.shown()));
      return all.toString();
    }

    /** Warns of a mistyped name: no node would serve the queues of its plugins. */
    private void logMissingFolder() {
      Path path = folder.path();
      boolean gone = path != null && !Files.isDirectory(path);
      if (gone && !missing) {
        LOG.warn("the plugin folder {} does not exist; only built-in plugins are found", path);
      } else if (!gone && missing) {
        LOG.info("the plugin folder {} exists now", path);
      }
      missing = gone;
    }
  }

  /**
   * The log level of Millrace's own loggers in this process, which the stored configuration can
   * set.
   */
  static final class LogLevel {
    private final ch.qos.logback.classic.Logger millrace;
    private final @Nullable Level usual;

    /** The level that {@code context} has now applies if none is stored. */
    LogLevel(LoggerContext context) {
      millrace = context.getLogger("io.millrace");
      usual = millrace.getLevel();
    }

    /**
     * Sets it.
     *
     * @param level null for the level at the start
     */
    void set(@Nullable String level) {
      millrace.setLevel(level == null ? usual : Level.valueOf(level));
    }
  }

  /** Options for the task runners of a node. */
  static final class RunnerOptions {
    @Option(
        names = "--plugins",
        paramLabel = "DIR",
        description =
            "A folder with plugins: executables, jars and folders with classes, modules of Perl."
                + " Default: only the built-in plugins")
    private @Nullable Path plugins;

    @Option(
        names = "--perl-lib",
        paramLabel = "DIR",
        description =
            "A folder with modules of Perl, among them plugins of Disbatch; may be repeated. The"
                + " plugin folder is always one")
    private List<Path> perl = List.of();

    @Option(
        names = "--warm-runners",
        paramLabel = "N",
        description =
            "The number of idle task runners to keep for the next tasks; 0 starts a new process for"
                + " each task. Default: the number of processors, at least 2")
    private String warm = Integer.toString(Math.max(2, Runtime.getRuntime().availableProcessors()));

    PluginFolder folder() {
      return new PluginFolder(plugins, perl);
    }

    int warm() {
      return Arguments.count("--warm-runners", warm);
    }

    /**
     * Checks the options.
     *
     * @throws UsageException if one is wrong
     */
    void check() {
      var _ = warm();
      if (plugins != null && Files.exists(plugins) && !Files.isDirectory(plugins)) {
        throw new UsageException("--plugins is not a folder: " + plugins);
      }
      for (Path folder : perl) {
        if (!Files.isDirectory(folder)) {
          throw new UsageException("--perl-lib is not a folder: " + folder);
        }
      }
    }
  }
}
