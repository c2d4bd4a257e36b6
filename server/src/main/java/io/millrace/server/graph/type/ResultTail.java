package io.millrace.server.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.jobs.Job;
import io.millrace.jobs.registry.Jobs;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** The result of a job; empty until it is done. */
final class ResultTail implements Tail {
  private final Jobs jobs;
  private volatile @Nullable Job done;

  ResultTail(Jobs jobs) {
    this.jobs = jobs;
  }

  /** Says that the result is there. */
  void done(Job job) {
    done = job;
  }

  @Override
  public long size() {
    Job job = done;
    Long size = job == null ? null : job.content().result();
    return size == null ? 0 : size;
  }

  @Override
  public byte[] read(long offset, int most) {
    Job job = done;
    if (job == null || offset >= size()) {
      return new byte[0];
    }
    try (InputStream result = jobs.registry().result(job).orElseGet(InputStream::nullInputStream)) {
      result.skipNBytes(offset);
      return result.readNBytes(most);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
