package io.millrace.queues.plugin;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs a plugin in Java once, in this thread, without a server: for tests of plugins, and for
 * trying one out. As in a task runner, params that the plugin does not declare are refused, {@code
 * System.out} and {@code System.err} are its outputs, and what it returns or throws becomes a
 * status. One trial at a time, since the outputs belong to the whole process.
 */
public final class PluginTrial {
  private static final JsonMapper MAPPER = JsonMapper.shared();

  private PluginTrial() {}

  /**
   * What came of a run.
   *
   * @param status 1 for success, 2 for failure, another positive number with a meaning of the
   *     plugin's own
   * @param stdout what it wrote to standard output
   * @param stderr what it wrote to standard error, with the stack trace if it threw something
   * @param retryAfter the pause that it asked for; null for none
   * @param snooze after which it wants to start again without this counting; null for none
   */
  public record Outcome(
      int status,
      String stdout,
      String stderr,
      @Nullable Duration retryAfter,
      @Nullable Duration snooze) {}

  /**
   * Runs a plugin.
   *
   * @param params the params of the task, a JSON object
   * @param folder an empty folder for this run; it stays
   * @throws IllegalArgumentException if the params are no JSON object, or if the plugin does not
   *     take them
   */
  public static Outcome run(Plugin plugin, String params, Path folder) {
    ObjectNode given = params(params);
    PluginDeclaration.of(plugin.getClass())
        .flatMap(declared -> declared.problem(plugin.getClass().getName(), given, _ -> false))
        .ifPresent(problem -> {
          throw new IllegalArgumentException(problem);
        });
    return run(plugin, new Task(given, folder));
  }

  /**
   * Reads params.
   *
   * @throws IllegalArgumentException if they are no JSON object
   */
  public static ObjectNode params(String json) {
    try {
      if (MAPPER.readTree(json) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw new IllegalArgumentException("params are not JSON: " + e.getOriginalMessage(), e);
    }
    throw new IllegalArgumentException("params are a JSON object");
  }

  private static synchronized Outcome run(Plugin plugin, Task task) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    int status;
    try (PrintStream own = new PrintStream(task.out, true, StandardCharsets.UTF_8);
        PrintStream errors = new PrintStream(task.err, true, StandardCharsets.UTF_8)) {
      System.setOut(own);
      System.setErr(errors);
      try {
        status = plugin.run(task);
        if (status <= 0) {
          errors.println("the plugin returned " + status + ", which is no status");
          status = 2;
        }
      } catch (Exception | Error e) {
        e.printStackTrace(errors);
        status = 2;
      }
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    return new Outcome(
        status,
        task.out.toString(StandardCharsets.UTF_8),
        task.err.toString(StandardCharsets.UTF_8),
        task.retryAfter,
        task.snooze);
  }

  /** The task of a trial. */
  private static final class Task implements PluginTask {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ObjectNode params;
    private final Path folder;
    private @Nullable Duration retryAfter;
    private @Nullable Duration snooze;

    Task(ObjectNode params, Path folder) {
      this.params = params;
      this.folder = folder;
    }

    @Override
    public String id() {
      return "0".repeat(23) + "1";
    }

    @Override
    public String queue() {
      return "0".repeat(23) + "2";
    }

    @Override
    public String node() {
      return "trial";
    }

    @Override
    public long token() {
      return 1;
    }

    @Override
    public ObjectNode params() {
      return params.deepCopy();
    }

    @Override
    public Path folder() {
      return folder;
    }

    @Override
    public OutputStream stdout() {
      return out;
    }

    @Override
    public OutputStream stderr() {
      return err;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void retryAfter(Duration delay) {
      retryAfter = delay;
    }

    @Override
    public void snooze(Duration delay) {
      snooze = delay;
    }

    @Override
    public void onCancel(Runnable action) {}
  }
}
