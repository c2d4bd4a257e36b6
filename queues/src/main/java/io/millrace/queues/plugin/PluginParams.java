package io.millrace.queues.plugin;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The params that the built-in plugins know. */
public final class PluginParams {
  private static final Map<String, Set<String>> BUILT_IN =
      Map.of(
          "shell", Set.of("command", "mixed"),
          "exec", Set.of("command", "args", "env", "cwd", "mixed"),
          "demo", Set.of("migration", "user1", "user2", "commands"));

  private PluginParams() {}

  /**
   * The names of the params that a built-in plugin knows; empty for any other plugin, and for the
   * one that a site may have replaced by its own.
   */
  public static Optional<Set<String>> builtIn(String plugin) {
    return Optional.ofNullable(BUILT_IN.get(plugin));
  }
}
