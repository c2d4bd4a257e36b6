package io.millrace.cli.jobs;

import io.millrace.cli.remote.PolicyOptions;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.client.jobs.JobForm;
import io.millrace.jobs.Priority;
import io.millrace.store.StoreException;
import io.millrace.store.environment.FileProblem;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
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
        "Submits a job for each file, with the content as payload, and prints the keys. Payloads"
            + " can be larger than memory.")
final class SubmitCommand extends JobServer implements Callable<Integer> {
  private static final int MEBI_SHIFT = 20;

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "Files with payloads; - is standard input.")
  private List<String> files = List.of();

  @Mixin private JobOptions order = new JobOptions();

  @Mixin private Waiter.Options waiting = new Waiter.Options();

  @Option(
      names = {"-w", "--wait"},
      description = "Waits until all have ended; the exit code says how.")
  private boolean wait;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description =
          "Waits for the job and writes its result to this file; - is standard output. Only for a"
              + " single job.")
  private @Nullable String output;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints no keys and no results.")
  private boolean quiet;

  private long uploaded;
  private int duplicates;

  @Override
  public Integer call() {
    return run(calls -> {
      List<Payload> payloads = payloads();
      order.check(payloads.size());
      if (output != null && payloads.size() > 1) {
        throw new UsageException(
            "--output takes the result of one job, and there are several files");
      }
      ResultTarget target = output == null ? null : ResultTarget.named(terminal(), output);
      boolean ends = wait || target != null;
      List<String> ids = submit(calls, payloads, !ends && !quiet);
      if (!ends) {
        return ExitCode.OK;
      }
      boolean silent = quiet || (target != null && target.isStandardOutput());
      int code =
          new JobWaiter(calls, this, waiting, silent).until(ids.stream().distinct().toList());
      if (target != null && code == ExitCode.OK) {
        target.fetch(calls, ids.getFirst());
      }
      return code;
    });
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
        JsonNode response = submit(calls, payload, bar, total, keys.size());
        keys.add(response.path("created").asString());
        duplicates += response.path("duplicate").asBoolean(false) ? 1 : 0;
        if (print) {
          print(response, keys.getLast());
        }
      }
    }
    if (duplicates > 0) {
      terminal().say(duplicates + " of " + keys.size() + " jobs were there already");
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
      return calls.upload(order.path(), JobForm.of(order.fields(), content, payload.size()));
    } catch (StoreException e) {
      boolean refused = e instanceof RejectedException rejected && isRefusal(rejected);
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

  /** Options of the jobs to submit. */
  private static final class JobOptions {
    @Option(
        names = {"-t", "--type"},
        paramLabel = "TYPE",
        description = "The job type, if the server has job types.")
    private @Nullable String type;

    @Option(
        names = {"-k", "--key"},
        paramLabel = "KEY",
        description = "A unique key for the job. Only for a single file. Default: its GUID")
    private @Nullable String key;

    @Option(
        names = {"-p", "--priority"},
        paramLabel = "PRIORITY",
        defaultValue = "batch",
        description = "immediate or batch; immediate jobs are run first. Default: ${DEFAULT-VALUE}")
    private String priority = Priority.BATCH.word();

    @Option(
        names = "--description",
        paramLabel = "TEXT",
        description = "A description, up to 128 characters.")
    private @Nullable String description;

    @Option(
        names = "--delay",
        paramLabel = "TIME",
        description = "How long to wait before the jobs are offered to workers, for example 10m.")
    private @Nullable String delay;

    @Option(
        names = "--at",
        paramLabel = "MOMENT",
        description =
            "The earliest time to offer the jobs to workers, for example 2026-12-24T18:00:00Z or"
                + " with another offset.")
    private @Nullable String at;

    @Option(
        names = "--limit-key",
        paramLabel = "KEY",
        description =
            "The key by which the job is limited and takes its turn, for example the name of a"
                + " customer.")
    private @Nullable String limitKey;

    @Option(
        names = "--priority-level",
        paramLabel = "N",
        description =
            "The level of the job among those of its priority, from 0 to 9. Each level counts as"
                + " much as a minute of waiting. Default: 0")
    private @Nullable String level;

    @Mixin private PolicyOptions.OfJobs policy = new PolicyOptions.OfJobs();

    @Mixin private PolicyOptions.Tags tags = new PolicyOptions.Tags();

    /**
     * Checks the options for this number of jobs.
     *
     * @throws UsageException if one is wrong
     */
    void check(int jobs) {
      if (Priority.named(priority.strip()).isEmpty()) {
        throw new UsageException("--priority is immediate or batch, not '" + priority + "'");
      }
      if (key != null && key.isEmpty()) {
        throw new UsageException("--key is empty");
      }
      if (key != null && jobs > 1) {
        throw new UsageException("--key names one job, and there are " + jobs + " files");
      }
      if (type != null && type.isEmpty()) {
        throw new UsageException("--type is empty");
      }
      try {
        if (delay != null) {
          TimeText.duration("--delay", delay);
        }
        if (at != null) {
          TimeText.moment("--at", at);
        }
      } catch (PolicyException e) {
        throw new UsageException(String.valueOf(e.getMessage()), e);
      }
      if (limitKey != null && limitKey.isEmpty()) {
        throw new UsageException("--limit-key is empty");
      }
      if (level != null && !level.matches("[0-9]")) {
        throw new UsageException("--priority-level is a number from 0 to 9, not '" + level + "'");
      }
      tags.addTo(policy.fields(false));
    }

    /** Where to submit. */
    String path() {
      return JobServer.JOBS + "/submit" + (type == null ? "" : "/" + JsonCalls.part(type));
    }

    /** The fields of the form, without the payload. */
    Map<String, String> fields() {
      Map<String, String> fields = new LinkedHashMap<>();
      fields.put("Priority", priority.strip());
      if (key != null) {
        fields.put("Key", key);
      }
      if (description != null) {
        fields.put("Description", description);
      }
      if (delay != null) {
        fields.put("Delay", delay);
      }
      if (at != null) {
        fields.put("At", at);
      }
      if (limitKey != null) {
        fields.put("limit_key", limitKey);
      }
      if (level != null) {
        fields.put("priority_level", level);
      }
      fields.putAll(policy.fields(false));
      tags.addTo(fields);
      return fields;
    }
  }

  /**
   * The payload of a job.
   *
   * @param name a file, or - for standard input
   * @param size in bytes; -1 if unknown
   */
  record Payload(String name, long size) {
    /**
     * The payload that the command line names.
     *
     * @throws UsageException if it cannot be read
     */
    static Payload named(String name) {
      if (name.equals("-")) {
        return new Payload(name, -1);
      }
      Path file = Path.of(name);
      if (!Files.exists(file)) {
        throw new UsageException("there is no file " + name);
      }
      if (Files.isDirectory(file)) {
        throw new UsageException(name + " is a folder");
      }
      if (!Files.isReadable(file)) {
        throw new UsageException("the file " + name + " cannot be read");
      }
      try {
        return new Payload(name, Files.isRegularFile(file) ? Files.size(file) : -1);
      } catch (IOException e) {
        throw new UsageException(
            "the file " + name + " cannot be read: " + FileProblem.reason(e), e);
      }
    }

    /** Whether it comes from standard input. */
    boolean isStandardInput() {
      return name.equals("-");
    }

    /**
     * Opens it.
     *
     * @param read is called with the number of bytes read so far, each time it grows
     */
    InputStream open(Terminal terminal, LongConsumer read) throws IOException {
      // Standard input stays open.
      InputStream source =
          isStandardInput()
              ? new FilterInputStream(terminal.in()) {
                @Override
                public void close() {}
              }
              : Files.newInputStream(Path.of(name));
      return new FixedLengthInput(source, size, read);
    }

    /** Reads exactly as many bytes as announced. */
    private static final class FixedLengthInput extends FilterInputStream {
      private final long size;
      private final LongConsumer read;
      private long taken;

      FixedLengthInput(InputStream source, long size, LongConsumer read) {
        super(source);
        this.size = size;
        this.read = read;
      }

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        int most = size < 0 ? length : (int) Math.min(length, size - taken);
        if (most == 0) {
          return length == 0 ? 0 : -1;
        }
        int count = super.read(target, offset, most);
        if (count < 0 && size >= 0) {
          throw new EOFException("the file became shorter while it was read");
        }
        taken += Math.max(count, 0);
        read.accept(taken);
        return count;
      }
    }
  }
}
