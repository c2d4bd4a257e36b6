package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.OutputFile;
import io.millrace.queues.OutputLimits;
import io.millrace.queues.TaskOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Both outputs of a task. */
final class Outputs {
  private final Capture stdout;
  private final Capture stderr;
  private final ObjectId task;
  private final OutputLimits limits;
  private final Supplier<BlobStore> blobs;

  Outputs(Assignment assignment, TaskFolder folder, Supplier<BlobStore> blobs) {
    this.task = assignment.task();
    this.limits = assignment.limits();
    this.blobs = blobs;
    long token = assignment.run().claim().token();
    this.stdout = capture("stdout", folder, token);
    this.stderr = capture("stderr", folder, token);
  }

  private Capture capture(String name, TaskFolder folder, long token) {
    return new Capture(name, folder.output(name), OutputFile.prefix(task, token, name));
  }

  Capture stdout() {
    return stdout;
  }

  Capture stderr() {
    return stderr;
  }

  /** Keeps an endless output from filling the disk. */
  void cut() {
    stdout.cut(limits.maxBytes(), true);
    stderr.cut(limits.maxBytes(), true);
  }

  /** Stores what is there, so that it can be read while the task runs. */
  void upload() throws IOException {
    stdout.upload(blobs.get(), limits.maxBytes());
    stderr.upload(blobs.get(), limits.maxBytes());
  }

  /**
   * What is to be reported of them.
   *
   * @param files what the output names, stored already
   * @param loss what was lost and why; null when nothing was
   */
  record Settled(TaskOutput output, List<OutputFile> files, @Nullable String loss) {
    /** Copies the list. */
    Settled {
      files = List.copyOf(files);
    }
  }

  /** How an output is stored: once, or trying again where that is wise. */
  interface Storing {
    /**
     * Stores a part.
     *
     * @return whether it was stored; why not was said to {@code capture}
     */
    boolean store(Capture capture, long bytes) throws InterruptedException;
  }

  /** Decides and stores what is kept, after the work has ended. */
  Settled settle(@Nullable String complaint, IdSource ids, Storing storing)
      throws InterruptedException {
    stdout.cut(limits.maxBytes(), false);
    stderr.cut(limits.maxBytes(), false);
    if (complaint != null) {
      stderr.say(complaint);
    }
    Keeping.Both kept = Keeping.of(stdout.size(), stderr.size(), limits);
    List<OutputFile> files = new ArrayList<>();
    TaskOutput output =
        new TaskOutput(
            settle(stdout, kept.stdout(), ids, storing, files),
            settle(stderr, kept.stderr(), ids, storing, files));
    return new Settled(output, files, loss());
  }

  /** Gives ids to files. */
  interface IdSource {
    ObjectId next();
  }

  private Output settle(
      Capture capture, Keeping keeping, IdSource ids, Storing storing, List<OutputFile> files)
      throws InterruptedException {
    if (keeping.bytes() < capture.size()) {
      capture.lost("cut at " + keeping.bytes() + " bytes, since files are not wanted");
    }
    if (keeping.how() == Keeping.How.INLINE) {
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
        new OutputFile(ids.next(), task, capture.name(), keeping.bytes(), capture.prefix());
    files.add(file);
    return new Output.Stored(file.id(), keeping.bytes(), keeping.how() == Keeping.How.TEXT);
  }

  private @Nullable String loss() {
    String first = stdout.loss();
    String second = stderr.loss();
    if (first == null) {
      return second;
    }
    return second == null ? first : first + "; " + second;
  }

  /** Removes the chunks that a report does not name. */
  void forgetAllBut(TaskOutput output) {
    if (!(output.stdout() instanceof Output.Stored)) {
      stdout.forget(blobs);
    }
    if (!(output.stderr() instanceof Output.Stored)) {
      stderr.forget(blobs);
    }
  }
}
