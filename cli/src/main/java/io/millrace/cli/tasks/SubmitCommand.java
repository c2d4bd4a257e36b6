package io.millrace.cli.tasks;

import io.millrace.cli.queues.QueuesCommands;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.PolicyOptions;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.queues.Status;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreException;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Submits tasks. */
@Command(
    name = "submit",
    description =
        "Submits tasks to a queue and prints their ids. A file is checked completely before"
            + " anything is sent; standard input is sent while it is read.")
final class SubmitCommand extends ServerCommand implements Callable<Integer> {
  @Mixin private ParamsOptions params = new ParamsOptions();

  @Option(
      names = {"-s", "--status"},
      paramLabel = "STATUS",
      defaultValue = "-2",
      converter = TaskCalls.StatusWord.class,
      description =
          "The first status: queued, or one that holds the tasks back, for example blocked or -7."
              + " Default: queued")
  private int status = Status.QUEUED;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      description = "How long to wait before the tasks can run, for example 10m.")
  private @Nullable String delay;

  @Option(
      names = "--at",
      paramLabel = "MOMENT",
      description =
          "The earliest time to run the tasks, for example 2026-12-24T18:00:00Z or with another"
              + " offset.")
  private @Nullable String at;

  @Mixin private PolicyOptions.OfTasks policy = new PolicyOptions.OfTasks();

  @Mixin private PolicyOptions.Tags tags = new PolicyOptions.Tags();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until all have ended; the exit code says how.")
  private boolean wait;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints no ids and no results.")
  private boolean quiet;

  @Override
  public Integer call() {
    return run(calls -> {
      String terms = terms();
      long total = check();
      String queue = params.queue();
      String id = Fields.id(QueuesCommands.find(calls, queue));
      TaskWaiter.Ids ids = new TaskWaiter.Ids();
      Submission submission =
          new Submission(calls, "/dci/tasks/" + id + terms, task -> created(ids, task));
      try (ProgressBar bar = new ProgressBar(terminal(), "submitted")) {
        send(submission, bar, total);
      } catch (StoreException e) {
        int code = e instanceof RejectedException ? ExitCode.REFUSED : ExitCode.FAILURE;
        throw new CommandException(code, e.getMessage() + "; " + submission.soFar(e), e);
      } catch (CommandException e) {
        throw new CommandException(e.exitCode(), e.getMessage() + "; " + submission.soFar(e), e);
      }
      long done = submission.done();
      long duplicates = submission.duplicates();
      terminal()
          .err()
          .println(
              "submitted "
                  + (done - duplicates)
                  + (done - duplicates == 1 ? " task" : " tasks")
                  + " to "
                  + queue
                  + (duplicates == 0 ? "" : ", and " + duplicates + " were there already"));
      return wait ? new TaskWaiter(calls, this, waiting, quiet).until(ids) : ExitCode.OK;
    });
  }

  /**
   * The query that says how the tasks are created.
   *
   * @throws UsageException if a value is invalid
   */
  private String terms() {
    Map<String, String> terms = policy.fields(false);
    tags.addTo(terms);
    if (status != Status.QUEUED) {
      terms.put("status", Integer.toString(status));
    }
    try {
      if (delay != null) {
        TimeText.duration("--delay", delay);
        terms.put("delay", delay);
      }
      if (at != null) {
        TimeText.moment("--at", at);
        terms.put("at", at);
      }
    } catch (PolicyException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
    return terms.isEmpty()
        ? ""
        : terms.entrySet().stream()
            .map(term -> term.getKey() + "=" + JsonCalls.part(term.getValue()))
            .collect(Collectors.joining("&", "?", ""));
  }

  /**
   * Reads and checks all params, if they can be read twice. Returns the number of tasks; 0 if
   * unknown.
   */
  private long check() throws IOException {
    if (!params.repeatable()) {
      return 0;
    }
    try (ParamsSource source = params.open(terminal())) {
      long total = 0;
      while (source.next() != null) {
        total++;
      }
      return total;
    }
  }

  private void send(Submission submission, ProgressBar bar, long total) throws IOException {
    ObjectNode everywhere = params.arguments();
    try (ParamsSource source = params.open(terminal())) {
      for (ObjectNode next = source.next(); next != null; next = source.next()) {
        submission.add(everywhere.isEmpty() ? next : everywhere.deepCopy().setAll(next));
        bar.show(submission.done(), total);
      }
      submission.send();
      bar.show(submission.done(), total);
    }
  }

  private void created(TaskWaiter.Ids ids, String task) {
    if (wait) {
      ids.add(task);
    } else if (!quiet) {
      out().println(json() ? "{\"id\":\"" + task + "\"}" : task);
    }
  }

  /** Sends tasks to a queue in chunks of one request each. */
  private static final class Submission {
    private static final int CHUNK_TASKS = 4_000;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final JsonMapper JSON = new JsonMapper();

    private final JsonCalls calls;
    private final String path;
    private final Consumer<String> created;
    private final ByteArrayOutputStream chunk = new ByteArrayOutputStream();
    private int inChunk;
    private long done;
    private long duplicates;

    /**
     * Nothing sent yet.
     *
     * @param path the path to post to
     * @param created receives the id of each task, in order
     */
    Submission(JsonCalls calls, String path, Consumer<String> created) {
      this.calls = calls;
      this.path = path;
      this.created = created;
    }

    /** Adds a task, and sends the chunk if it is full. */
    void add(ObjectNode params) {
      byte[] written = JSON.writeValueAsBytes(params);
      if (inChunk > 0 && chunk.size() + written.length >= CHUNK_BYTES) {
        send();
      }
      chunk.write(inChunk == 0 ? '[' : ',');
      chunk.writeBytes(written);
      inChunk++;
      if (inChunk == CHUNK_TASKS) {
        send();
      }
    }

    /** Sends the tasks that have not been sent. */
    void send() {
      if (inChunk == 0) {
        return;
      }
      chunk.write(']');
      JsonNode response = calls.post(path, chunk.toByteArray());
      JsonNode result = response.path("MongoDB::InsertManyResult");
      JsonNode inserted = (result.isMissingNode() ? response : result).path("inserted");
      for (JsonNode task : inserted) {
        created.accept(Fields.id(task));
        duplicates += task.path("duplicate").asBoolean(false) ? 1 : 0;
      }
      done += inserted.size();
      chunk.reset();
      inChunk = 0;
    }

    /** The number of tasks that the server has confirmed. */
    long done() {
      return done;
    }

    /** How many of them were there already, with the same unique key. */
    long duplicates() {
      return duplicates;
    }

    /** The number of tasks submitted before a failure, as a message. */
    String soFar(Exception failure) {
      String before =
          done == 0 ? "no task was submitted" : done + " tasks were submitted before that";
      return failure instanceof OutcomeUnknownException
          ? before + ", and it is unknown whether the next " + inChunk + " were"
          : before;
    }
  }
}
