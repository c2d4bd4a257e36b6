package io.millrace.cli.serve;

import io.millrace.queues.node.Plugins;
import io.millrace.queues.plugin.PluginFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugins of a folder, as a node asks for them every second. A folder of so many files that a
 * look at them takes its time is looked at more rarely: an idle node is to cost nothing. For use by
 * one node.
 */
final class FoundPlugins implements Plugins {
  /** A look costs a hundredth of the time at most. */
  private static final int REST = 100;

  private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final Logger LOG = LoggerFactory.getLogger(FoundPlugins.class);

  private final PluginFolder folder;
  private final LongSupplier nanos;
  private boolean missing;
  private @Nullable String mark;
  private long dueNanos;

  FoundPlugins(PluginFolder folder, LongSupplier nanos) {
    this.folder = folder;
    this.nanos = nanos;
  }

  @Override
  public Set<String> names() {
    return folder.names();
  }

  @Override
  public boolean has(String name) {
    return folder.has(name);
  }

  @Override
  public String mark() {
    long begun = nanos.getAsLong();
    String known = mark;
    if (known != null && begun - dueNanos < 0) {
      return known;
    }
    sayWhetherThere();
    String found = folder.mark();
    long ended = nanos.getAsLong();
    dueNanos = ended + Math.min(REST * (ended - begun), LONGEST_REST_NANOS);
    mark = found;
    return found;
  }

  /** A name that is mistyped would leave queues without a node and nobody told. */
  private void sayWhetherThere() {
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
