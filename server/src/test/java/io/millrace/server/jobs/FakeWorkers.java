package io.millrace.server.jobs;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.WorkerConnection;
import io.millrace.jobs.worker.WorkerLink;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.jobs.worker.Workers;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Notes what workers do. */
final class FakeWorkers implements Workers {
  final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  final BlockingQueue<WorkerLink> links = new LinkedBlockingQueue<>();
  final Map<JobId, Progress> progress = new ConcurrentHashMap<>();
  final List<Progress.Update> said = new CopyOnWriteArrayList<>();
  final List<WorkerView> listed = new CopyOnWriteArrayList<>();

  String nextHeard() throws InterruptedException {
    return String.valueOf(heard.poll(30, TimeUnit.SECONDS));
  }

  WorkerLink nextLink() throws InterruptedException {
    WorkerLink link = links.poll(30, TimeUnit.SECONDS);
    if (link == null) {
      throw new AssertionError("no worker came");
    }
    return link;
  }

  @Override
  public WorkerConnection connect(String type, WorkerLink link) {
    heard.add("connected " + type);
    links.add(link);
    return new WorkerConnection() {
      @Override
      public void hear(String text) {
        heard.add(text);
      }

      @Override
      public void receive(InputStream result) throws IOException {
        long length = 0;
        byte[] buffer = new byte[64 << 10];
        int count = result.read(buffer);
        while (count >= 0) {
          length += count;
          count = result.read(buffer);
        }
        heard.add("result of " + length);
      }

      @Override
      public void alive() {
        heard.add("alive");
      }

      @Override
      public boolean wants(Job job) {
        return true;
      }

      @Override
      public void missing(Job job) {
        heard.add("missing " + job.key());
      }

      @Override
      public void sending() {}

      @Override
      public boolean registered() {
        return false;
      }

      @Override
      public void disconnected(@Nullable String fault) {
        heard.add("disconnected" + (fault == null ? "" : ": " + fault));
      }
    };
  }

  @Override
  public List<WorkerView> list() {
    return listed;
  }

  @Override
  public Optional<WorkerView> find(String id) {
    return listed.stream().filter(worker -> worker.id().text().equals(id)).findFirst();
  }

  @Override
  public Progress.Updates progressSince(long after) {
    List<Progress.Update> all = List.copyOf(said);
    return new Progress.Updates(all.size(), all.subList((int) after, all.size()));
  }

  @Override
  public Optional<Progress> progress(JobId job) {
    return Optional.ofNullable(progress.get(job));
  }
}
