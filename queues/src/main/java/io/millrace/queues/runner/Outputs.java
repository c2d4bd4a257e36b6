package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.work.policy.EndedAttempt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The outputs of a task. */
final class Outputs {
  /** With less room than this on the disk, a write has failed or soon will. */
  private static final long LEAST_ROOM_BYTES = 64 << 10;

  private final Capture stdout;
  private final Capture stderr;
  private final Supplier<Capture> mixing;
  private final ObjectId task;
  private final OutputLimits limits;
  private final Supplier<BlobStore> blobs;
  private final LongSupplier room;
  private volatile @Nullable Capture mixed;
  private volatile boolean diskWasFull;

  Outputs(Assignment assignment, TaskFolder folder, Supplier<BlobStore> blobs) {
    this(assignment, folder, blobs, folder.runner().toFile()::getUsableSpace);
  }

  /** The outputs of a task; {@code room} returns how many bytes are free on the disk. */
  Outputs(Assignment assignment, TaskFolder folder, Supplier<BlobStore> blobs, LongSupplier room) {
    this.room = room;
    this.task = assignment.task();
    this.limits = assignment.limits();
    this.blobs = blobs;
    long token = assignment.run().claim().token();
    this.stdout = capture(Stream.STDOUT, folder, token);
    this.stderr = capture(Stream.STDERR, folder, token);
    this.mixing = () -> capture(Stream.MIXED, folder, token);
  }

  private Capture capture(Stream stream, TaskFolder folder, long token) {
    String name = stream.word();
    return new Capture(name, folder.output(name), OutputFile.prefix(task, token, name));
  }

  Capture stdout() {
    return stdout;
  }

  Capture stderr() {
    return stderr;
  }

  /** Takes what a program has returned in place of what it has written, if it has. */
  void take(Path returnedStdout, Path returnedStderr) {
    if (Files.exists(returnedStdout)) {
      stdout.replaceBy(returnedStdout, blobs);
    }
    if (Files.exists(returnedStderr)) {
      stderr.replaceBy(returnedStderr, blobs);
    }
  }

  /** The file to which both outputs are written together; to be called once, by the writer. */
  Capture mix() {
    Capture both = mixing.get();
    mixed = both;
    return both;
  }

  private List<Capture> all() {
    Capture both = mixed;
    return both == null ? List.of(stdout, stderr) : List.of(stdout, stderr, both);
  }

  /** Keeps an endless output from filling the disk. */
  void cut() {
    lookForRoom();
    all().forEach(capture -> capture.cut(limits.maxBytes(), true));
  }

  /** Programs write to the files themselves, so only they know whether they found no room. */
  private void lookForRoom() {
    if (room.getAsLong() < LEAST_ROOM_BYTES) {
      diskWasFull = true;
    }
  }

  /** Stores the output so far, so that it can be read while the task runs. */
  void upload() throws IOException {
    for (Capture capture : all()) {
      capture.upload(blobs.get(), limits.maxBytes());
    }
  }

  /**
   * The outputs for a report.
   *
   * @param files the files to which the output refers, stored already
   * @param loss what was lost and why; null if nothing was lost
   */
  record Settled(TaskOutput output, List<OutputFile> files, @Nullable String loss) {
    /** Copies the list. */
    Settled {
      files = List.copyOf(files);
    }
  }

  /** How an output is stored: once, or with retries. */
  interface Storing {
    /**
     * Stores a part.
     *
     * @return whether it was stored; if not, {@code capture} was told why
     */
    boolean store(Capture capture, long bytes) throws InterruptedException;
  }

  /** Decides what is kept and stores it, after the work has ended. */
  Settled settle(@Nullable String complaint, Supplier<ObjectId> ids, Storing storing)
      throws InterruptedException {
    lookForRoom();
    all().forEach(capture -> capture.cut(limits.maxBytes(), false));
    if (complaint != null) {
      stderr.say(complaint);
    }
    OutputPlacement.Both kept = OutputPlacement.of(stdout.size(), stderr.size(), limits);
    List<OutputFile> files = new ArrayList<>();
    Output out = settle(stdout, kept.stdout(), ids, storing, files);
    Output err = settle(stderr, kept.stderr(), ids, storing, files);
    Capture both = mixed;
    TaskOutput output =
        both == null
            ? new TaskOutput(out, err)
            : new TaskOutput(
                out,
                err,
                settle(both, OutputPlacement.alone(both.size(), limits), ids, storing, files));
    return new Settled(output, files, loss());
  }

  private Output settle(
      Capture capture,
      OutputPlacement keeping,
      Supplier<ObjectId> ids,
      Storing storing,
      List<OutputFile> files)
      throws InterruptedException {
    if (keeping.bytes() < capture.size()) {
      capture.lost("cut at " + keeping.bytes() + " bytes, since files are not wanted");
    }
    if (keeping.how() == OutputPlacement.How.INLINE) {
      try {
        return new Output.Text(keeping.bytes() == 0 ? "" : capture.text());
      } catch (IOException e) {
        capture.lost("could not be read: " + e);
        return Output.none();
      }
    }
    if (!storing.store(capture, keeping.bytes())) {
      return Output.none();
    }
    OutputFile file =
        new OutputFile(ids.get(), task, capture.name(), keeping.bytes(), capture.prefix());
    files.add(file);
    return new Output.Stored(file.id(), keeping.bytes(), keeping.how() == OutputPlacement.How.TEXT);
  }

  private @Nullable String loss() {
    List<String> losses = new ArrayList<>();
    if (diskWasFull) {
      losses.add("the disk of the runner was full, so output may be missing");
    }
    for (Capture capture : all()) {
      String loss = capture.loss();
      if (loss != null) {
        losses.add(loss);
      }
    }
    return losses.isEmpty() ? null : String.join("; ", losses);
  }

  /**
   * The end of what was written: to standard error, or else to standard output; null if nothing.
   */
  @Nullable String lastText() {
    String complaints = stderr.lastText(EndedAttempt.MAX_LOG);
    return complaints == null ? stdout.lastText(EndedAttempt.MAX_LOG) : complaints;
  }

  /** Deletes the chunks to which a report does not refer. */
  void forgetAllBut(TaskOutput output) {
    forgetUnless(output.stdout(), stdout);
    forgetUnless(output.stderr(), stderr);
    Capture both = mixed;
    if (both != null) {
      forgetUnless(output.mixed(), both);
    }
  }

  private void forgetUnless(Output named, Capture capture) {
    if (!(named instanceof Output.Stored)) {
      capture.forget(blobs);
    }
  }

  /**
   * How much of an output is kept, and where.
   *
   * @param bytes how much
   * @param how where
   */
  record OutputPlacement(long bytes, How how) {
    /** The most bytes of both outputs together in the task's own document. */
    static final int INLINE_BYTES = 4096;

    /** Where an output goes. */
    enum How {
      /** Into the task's document. */
      INLINE,
      /** Into the blob store, shown in the task as its text. */
      TEXT,
      /** Into the blob store, shown in the task as a file. */
      FILE
    }

    /** Both outputs of a task. */
    record Both(OutputPlacement stdout, OutputPlacement stderr) {}

    /** The placement of outputs of these sizes. */
    static Both of(long stdout, long stderr, OutputLimits limits) {
      long text = limits.textBytes();
      return switch (limits.files()) {
        case ALWAYS -> new Both(file(stdout), file(stderr));
        case AUTO -> {
          if (stdout + stderr <= text) {
            yield texts(stdout, stderr);
          }
          // The larger one goes to a file, then the other one if both are still too long.
          yield stdout >= stderr
              ? new Both(file(stdout), stderr <= text ? text(stderr) : file(stderr))
              : new Both(stdout <= text ? text(stdout) : file(stdout), file(stderr));
        }
        case NEVER -> {
          // Standard error is usually short, and the most wanted.
          long complaints = Math.min(stderr, Math.max(text / 2, text - stdout));
          yield texts(Math.min(stdout, text - complaints), complaints);
        }
      };
    }

    /** The placement of an output of this size regardless of the other. */
    static OutputPlacement alone(long bytes, OutputLimits limits) {
      return switch (limits.files()) {
        case ALWAYS -> file(bytes);
        case AUTO -> bytes <= limits.textBytes() ? text(bytes) : file(bytes);
        case NEVER -> text(Math.min(bytes, limits.textBytes()));
      };
    }

    private static Both texts(long stdout, long stderr) {
      if (stdout + stderr <= INLINE_BYTES) {
        return new Both(
            new OutputPlacement(stdout, How.INLINE), new OutputPlacement(stderr, How.INLINE));
      }
      return stdout >= stderr
          ? new Both(new OutputPlacement(stdout, How.TEXT), text(stderr))
          : new Both(text(stdout), new OutputPlacement(stderr, How.TEXT));
    }

    private static OutputPlacement text(long bytes) {
      return new OutputPlacement(bytes, bytes <= INLINE_BYTES ? How.INLINE : How.TEXT);
    }

    private static OutputPlacement file(long bytes) {
      return new OutputPlacement(bytes, bytes == 0 ? How.INLINE : How.FILE);
    }
  }
}
