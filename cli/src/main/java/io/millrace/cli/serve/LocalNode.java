package io.millrace.cli.serve;

import ch.qos.logback.classic.LoggerContext;
import io.millrace.blobs.BlobStore;
import io.millrace.cli.queues.RunnerLaunch;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.UsageException;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queues;
import io.millrace.queues.Salvage;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.LocalMachine;
import io.millrace.queues.node.NodeDriver;
import io.millrace.queues.node.NodeOptions;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.runner.LocalRunners;
import io.millrace.queues.runner.LocalRunnersOptions;
import io.millrace.store.TaskStore;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** An execution node of this machine, from its parts. */
final class LocalNode {
  /**
   * Where a node is and what it serves.
   *
   * @param name its name
   * @param data the folder with its runners
   * @param server the server that its runners ask
   * @param workers what the command line says about runners
   */
  record Site(String name, Path data, ServerLocation server, WorkerOptions workers) {}

  /** Its bytes, up to four of a character, and what goes around them fit into a key. */
  private static final int LONGEST_NAME = 128;

  private LocalNode() {}

  /**
   * The name of a node.
   *
   * @param option what it was given by
   * @param given null for the name of this machine
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

  /** The server as the node itself uses it. */
  record Stores(TaskStore tasks, BlobStore blobs) {}

  /** Makes a node. */
  static ExecutionNode create(Site site, Stores stores, Runnable ready) {
    PluginFolder plugins = new PluginFolder(site.workers().plugins());
    LocalRunnersOptions options =
        LocalRunnersOptions.in(site.data().resolve("runners"), RunnerLaunch.command(site.server()))
            .withIdle(site.workers().warm())
            .withPlugins(site.workers().plugins());
    NodeOptions nodeOptions = NodeOptions.of(site.name(), UUID.randomUUID().toString());
    Queues queues = Queues.in(stores.tasks(), Clock.systemUTC(), new SecureRandom());
    ExecutionNode node =
        new ExecutionNode(
            nodeOptions,
            queues,
            LocalRunners.create(options),
            new FoundPlugins(plugins, System::nanoTime),
            LocalMachine.look());
    node.salvageBy(Salvage.from(stores.blobs(), queues));
    LogLevel level = new LogLevel((LoggerContext) LoggerFactory.getILoggerFactory());
    node.configure(new Configured(level, ready)::apply);
    return node;
  }

  /** Starts it. */
  static NodeDriver drive(ExecutionNode node, TaskStore store) {
    return NodeDriver.start(node, store);
  }

  /** Follows the stored log level, and tells when the node first knows its configuration. */
  private static final class Configured {
    private final LogLevel level;
    private final Runnable ready;
    private boolean told;

    Configured(LogLevel level, Runnable ready) {
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
}
