package io.millrace.embedded;

import io.millrace.blobs.BlobStore;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobHandler;
import io.millrace.client.jobs.JobKind;
import io.millrace.graph.store.StoredGraph;
import io.millrace.queues.registry.Queues;
import io.millrace.schedules.Schedules;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.Configuration.Flag;
import io.millrace.server.graph.GraphPart;
import io.millrace.server.jobs.JobsPart;
import io.millrace.server.queues.QueuesPart;
import io.millrace.server.schedules.SchedulesPart;
import io.millrace.store.TaskStore;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server in this process: the store and everything that stands on it, as {@code ./millrace up}
 * starts it, but without an execution node. Tasks of queues are run by execution nodes, which are
 * processes of their own ({@code ./millrace node}) and need HTTP. Thread-safe; to be closed.
 */
public final class Millrace implements AutoCloseable {
  private final MillraceServer server;
  private final JobsPart jobs;
  private final JobClient client;
  private final boolean http;
  private final List<LocalJobWorker> workers = new CopyOnWriteArrayList<>();

  private Millrace(MillraceServer server, boolean http) {
    this.server = server;
    this.http = http;
    this.jobs = server.part(JobsPart.class);
    this.client = new LocalJobClient(jobs);
  }

  /**
   * Starts a server.
   *
   * @throws io.millrace.server.config.ConfigurationException if a setting is unknown or invalid
   * @throws io.millrace.server.ServerException if it cannot start as configured
   * @throws io.millrace.store.StoreException if the store cannot be opened, for example because
   *     another process has it
   */
  public static Millrace start(EmbeddedOptions options) {
    List<Flag> settings = new ArrayList<>();
    options.settings().forEach((key, value) -> settings.add(new Flag(key, value, "options")));
    settings.add(new Flag("store.data", options.folder().toString(), "options"));
    Configuration configuration = Configuration.read(MillraceServer.SECTIONS, null, settings);
    return new Millrace(
        options.http()
            ? MillraceServer.start(configuration)
            : MillraceServer.startWithoutHttp(configuration),
        options.http());
  }

  /** The store: tasks, documents, claims, transactions; locks of module {@code cluster} use it. */
  public TaskStore store() {
    return server.store();
  }

  /** Values too large for the store. */
  public BlobStore blobs() {
    return server.blobs();
  }

  /** Submits jobs and waits for their results, without HTTP. */
  public JobClient jobs() {
    return client;
  }

  /** Queues and their tasks. */
  public Queues queues() {
    return server.part(QueuesPart.class).queues();
  }

  /** The graph. */
  public StoredGraph graph() {
    return server.part(GraphPart.class).graph();
  }

  /** The schedules, whose runs this server starts. */
  public Schedules schedules() {
    return server.part(SchedulesPart.class).schedules();
  }

  /**
   * Works on jobs of a kind in this process, one at a time, until this is closed. Progress,
   * failures and cancellation are those of {@link io.millrace.client.jobs.JobWorker}.
   *
   * @throws io.millrace.jobs.JobsException.InvalidJobException if the server has no such type
   */
  public <P, R> void work(JobKind<P, R> kind, JobKind.Handler<P, R> handler) {
    work(kind.name(), 1, kind.handledBy(handler));
  }

  /**
   * Works on jobs of a type in this process until this is closed.
   *
   * @param type the name of the type; empty on a server without types
   * @param concurrency how many at a time, from 1 to 1,000
   * @throws io.millrace.jobs.JobsException.InvalidJobException if the server has no such type
   */
  public void work(String type, int concurrency, JobHandler handler) {
    workers.add(LocalJobWorker.start(jobs, type, concurrency, handler, LocalJobWorker.SIGN));
  }

  /** The address of its HTTP API and dashboard; empty without HTTP. */
  public Optional<URI> address() {
    return http ? Optional.of(URI.create("http://127.0.0.1:" + server.port())) : Optional.empty();
  }

  /**
   * Completes, with the cause, when the store has stopped by itself, for example after a failed
   * write. The server should be closed and started again then.
   */
  public CompletableFuture<Throwable> stopped() {
    return server.stopped();
  }

  /**
   * Stops the workers, while the server goes on. Jobs that have not ended in time are cancelled and
   * offered again.
   *
   * @param grace how long each worker has for the jobs that it works on
   */
  public void stopWorkers(Duration grace) {
    workers.forEach(worker -> worker.close(grace));
    workers.clear();
  }

  /**
   * Stops the workers, which have 30 seconds for the jobs that they work on, then the server. Jobs
   * that have not ended by then are offered again at the next start. Closing twice is safe.
   */
  @Override
  public void close() {
    stopWorkers(Duration.ofSeconds(30));
    server.close();
  }
}
