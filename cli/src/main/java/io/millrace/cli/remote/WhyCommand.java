package io.millrace.cli.remote;

import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Says why a piece of work waits. */
@Command(
    name = "why",
    description = {
      "Prints why a queue task, a job or a node of a graph has not started yet, and what other work"
          + " it waits for.",
      "Example: millrace why 6923a1f0c2d4e5f6a7b8c9d0"
    })
public final class WhyCommand extends ServerCommand implements Callable<Integer> {
  @Parameters(paramLabel = "ID", description = "The id of a task or node, or the key of a job.")
  private String id = "";

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description = "task, job or node. Needed only if several of them have this id.")
  private @Nullable String kind;

  @Override
  public Integer call() {
    return perform(calls -> {
      JsonNode why = orNotFound(() -> calls.get(path(id, kind)));
      if (json()) {
        out().println(why);
        return;
      }
      out()
          .println(
              Table.printable(
                  "%s %s is %s"
                      .formatted(
                          why.path("kind").asString(),
                          why.path("id").asString(),
                          why.path("status").asString())));
      for (JsonNode reason : why.path("reasons")) {
        out().println("- " + Table.printable(reason.path("message").asString()));
        if (reason.has("related")) {
          out().println("  " + Table.printable(related(reason.path("related"))));
        }
      }
    });
  }

  /** The path of the question why something waits. */
  static String path(String id, @Nullable String kind) {
    return "/why/" + JsonCalls.part(id) + (kind == null ? "" : "?kind=" + JsonCalls.part(kind));
  }

  /** For example {@code tasks: 1, 2 and 3 more}. */
  private static String related(JsonNode related) {
    List<String> ids = new ArrayList<>();
    related.path("ids").forEach(each -> ids.add(each.asString()));
    long more = related.path("more").asLong();
    String named = String.join(", ", ids);
    String others = more == 0 ? "" : (named.isEmpty() ? "" : " and ") + more + " more";
    return related.path("kind").asString() + "s: " + named + others;
  }
}
