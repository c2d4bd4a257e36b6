package io.millrace.cli.jobs;

import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Submits jobs. */
@Command(
    name = "submit",
    description =
        "Submits a job for each file, whose bytes are its payload, and prints the keys. Payloads"
            + " may be longer than memory.")
final class SubmitCommand extends JobCommand {
  private static final int MEBI_SHIFT = 20;

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "Files with payloads; - is standard input.")
  private List<String> files = List.of();

  @Mixin private Order order = new Order();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until all have ended, and exits by how they did.")
  private boolean wait;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description =
          "Waits for the job of one file, and writes its result here, - being standard output.")
  private @Nullable String output;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints no keys and no ends.")
  private boolean quiet;

  private long uploaded;

  SubmitCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) throws IOException, InterruptedException {
    List<Payload> payloads = payloads();
    order.check(payloads.size());
    if (output != null && payloads.size() > 1) {
      throw new UsageException("--output takes the result of one job, and there are several files");
    }
    ResultTarget target = output == null ? null : ResultTarget.named(terminal(), output);
    boolean ends = wait || target != null;
    List<String> ids = submit(calls, payloads, !ends && !quiet);
    if (!ends) {
      return ExitCode.OK;
    }
    boolean silent = quiet || (target != null && target.isStandardOutput());
    int code = new JobWaiter(calls, terminal(), waiting, json(), silent).until(ids);
    if (target != null && code == ExitCode.OK) {
      target.fetch(calls, ids.getFirst());
    }
    return code;
  }

  private List<Payload> payloads() {
    List<Payload> payloads = files.stream().map(Payload::named).toList();
    if (payloads.stream().filter(Payload::isStandardInput).count() > 1) {
      throw new UsageException("standard input is named more than once");
    }
    return payloads;
  }

  private List<String> submit(JsonCalls calls, List<Payload> payloads, boolean print)
      throws IOException {
    boolean known = payloads.stream().allMatch(payload -> payload.size() >= 0);
    long total = known ? payloads.stream().mapToLong(Payload::size).sum() : 0;
    List<String> keys = new ArrayList<>();
    try (ProgressBar bar = new ProgressBar(terminal(), "MiB uploaded")) {
      for (Payload payload : payloads) {
        JsonNode answer = submit(calls, payload, bar, total, keys.size());
        keys.add(answer.path("created").asString());
        if (print) {
          print(answer, keys.getLast());
        }
      }
    }
    return keys;
  }

  private JsonNode submit(
      JsonCalls calls, Payload payload, ProgressBar bar, long total, int before) {
    long start = uploaded;
    try (InputStream content =
        payload.open(
            terminal(),
            read -> {
              uploaded = start + read;
              bar.show(uploaded >> MEBI_SHIFT, total >> MEBI_SHIFT);
            })) {
      return calls.upload(order.path(), PayloadForm.of(order.fields(), content, payload.size()));
    } catch (StoreException e) {
      boolean refused = e instanceof RejectedException rejected && isAboutTheRequest(rejected);
      int code = refused ? ExitCode.REFUSED : ExitCode.FAILURE;
      throw new CommandException(code, said(payload, before, e), e);
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILURE,
          said(payload, before, new IOException("it cannot be read: " + e, e)),
          e);
    }
  }

  private String said(Payload payload, int before, Exception failure) {
    String message =
        files.size() == 1 && failure instanceof StoreException
            ? String.valueOf(failure.getMessage())
            : payload.name() + ": " + failure.getMessage();
    return before == 0
        ? message
        : message + "; " + before + (before == 1 ? " job was" : " jobs were") + " submitted before";
  }
}
