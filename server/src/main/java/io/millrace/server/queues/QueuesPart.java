package io.millrace.server.queues;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveSource;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.OutputReader;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.Sweeper;
import io.millrace.queues.registry.TaskArchive;
import io.millrace.queues.search.ArchiveSearch;
import io.millrace.server.Part;
import io.millrace.server.queues.QueueRoutes.Plugins;
import io.millrace.server.queues.TaskRoutes.KnownTasks;
import io.millrace.server.queues.TaskRoutes.KnownTasks.Archived;
import io.millrace.server.security.BasicCredentials;
import io.millrace.server.security.Token;
import io.millrace.server.traces.Traces;
import io.millrace.store.StandbyStore.LeaderNeededException;
import io.millrace.store.TaskStore;
import io.millrace.work.Explanation;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.SharedLimits.Usage;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The queues, with their command interface under {@code /dci}. */
public final class QueuesPart implements Part {
  private final Queues queues;
  private final TaskStore store;
  private final BlobStore blobs;
  private final TaskArchive archived;
  private final Sweeper sweeper;
  private final QueuesSettings settings;
  private final Callers callers;

  private QueuesPart(
      Queues queues,
      TaskStore store,
      BlobStore blobs,
      TaskArchive archived,
      Sweeper sweeper,
      QueuesSettings settings,
      Callers callers) {
    this.archived = archived;
    this.settings = settings;
    this.queues = queues;
    this.store = store;
    this.blobs = blobs;
    this.sweeper = sweeper;
    this.callers = callers;
  }

  /**
   * What the queues must know of their callers.
   *
   * @param token the server's, which clients may also send by HTTP Basic; null for none
   * @param traces to which the tasks that they submit belong
   * @param outside the queues that the command interface serves instead of these; null for these
   * @param here whether a queue of a name belongs to this store
   */
  public record Callers(
      @Nullable Token token,
      Traces traces,
      @Nullable CommandQueues outside,
      Predicate<String> here) {}

  /**
   * Opens the queues. Leases did not run while there was no server, so all begin again, before any
   * claim.
   *
   * @param maxDataBytes the longest data of a task that the store accepts
   */
  public static QueuesPart open(
      TaskStore store,
      BlobStore blobs,
      Archive archive,
      QueuesSettings settings,
      Callers callers,
      RandomGenerator random,
      int maxDataBytes) {
    Queues queues = Queues.in(store, Clock.systemUTC(), random, maxDataBytes);
    queues.runs().reviveAll(settings.lease());
    TaskArchive archived = new TaskArchive(archive, blobs);
    Sweeper sweeper =
        Sweeper.of(store, blobs, archived, settings.sweep(), Clock.systemUTC(), random);
    return new QueuesPart(queues, store, blobs, archived, sweeper, settings, callers);
  }

  /** The queues. */
  public Queues queues() {
    return queues;
  }

  /** Why a task waits; empty if there is none within the caller's reach. */
  public Optional<Explanation> explain(Request request, String task, Sharing sharing) {
    if (!ObjectId.isValid(task)) {
      return Optional.empty();
    }
    ObjectId id = new ObjectId(task);
    QueueReach reach = QueueReach.of(request, queues.queues());
    return queues
        .tasks()
        .find(id)
        .or(() -> Optional.ofNullable(archived.find(List.of(id)).get(id)))
        .filter(reach::includes)
        .map(found -> queues.explain(found, reach::includes, sharing));
  }

  /** The active tasks that count against a shared limit, as far as the caller may see them. */
  public Running sharing(Request request, Usage usage) {
    return queues.sharing(usage, QueueReach.of(request, queues.queues())::includes);
  }

  /** Their archived tasks. */
  public TaskArchive archived() {
    return archived;
  }

  /** What moves finished tasks to the archive. */
  public ArchiveSource retention() {
    return queues.retention(settings.retention(), settings.sweep().interval());
  }

  /**
   * The routes that only read the queues, tasks and nodes of a store. They throw {@link
   * LeaderNeededException} for a task that is not in the store, since it may be archived, and for
   * output that is in a file.
   *
   * @param token the server's; null for none
   */
  public static List<Route> reads(TaskStore store, @Nullable Token token, RandomGenerator random) {
    Queues queues = Queues.in(store, Clock.systemUTC(), random);
    ApiRoutes all = below(token);
    DciRoutes api = new DciRoutes(all);
    new NodeRoutes(queues.nodes()).addReadsTo(api);
    new QueueRoutes(queues.queues(), new Plugins(queues), _ -> true).addReadsTo(api);
    Shapes shapes = new Shapes(new OutputReader(new FilesOfLeader()));
    KnownTasks known =
        new KnownTasks(
            queues.tasks(),
            _ -> {
              throw new LeaderNeededException("only the leader reads the archive");
            },
            queues.queues());
    TaskRoutes.addReadsTo(api, known, shapes);
    new SearchRoutes(ArchiveSearch.atStandby(queues), shapes, queues.queues()).addReadsTo(api);
    return all.routes();
  }

  /**
   * Files of outputs where they are not read: chunks that are missing would count as the end of an
   * output.
   */
  private static final class FilesOfLeader implements OutputReader.Files {
    private static LeaderNeededException needed() {
      return new LeaderNeededException("only the leader reads output that is in a file");
    }

    @Override
    public void check(Output.Stored output) {
      throw needed();
    }

    @Override
    public Optional<Tail> file(Output.Stored output) {
      throw needed();
    }

    @Override
    public Tail soFar(QueueTask task, OutputReader.Stream stream) {
      throw needed();
    }
  }

  /**
   * What clients show besides the server's token and keys.
   *
   * @param token the server's; null for none
   */
  public static Credentials clients(@Nullable Token token) {
    return new BasicCredentials(token);
  }

  private static ApiRoutes below(@Nullable Token token) {
    return ApiRoutes.below("/dci").errors(Refusal.OBJECT).credentials(new BasicCredentials(token));
  }

  @Override
  public List<Route> routes() {
    ApiRoutes all = below(callers.token());
    DciRoutes api = new DciRoutes(all);
    CommandQueues outside = callers.outside();
    if (outside == null) {
      CommandQueues own =
          new CommandQueues(
              queues,
              ArchiveSearch.in(queues, archived),
              queues.output(blobs),
              UserDocuments.in(store),
              queues::watch);
      serve(api, own, archived::find);
    } else {
      serve(api, outside, _ -> Map.of());
    }
    return all.routes();
  }

  private void serve(DciRoutes api, CommandQueues served, Archived old) {
    QueueBackend backend = served.queues();
    Shapes shapes = new Shapes(served.outputs());
    Plugins plugins = new Plugins(backend);
    KnownTasks known = new KnownTasks(backend.tasks(), old, backend.queues());
    UserDocuments documents = new UserDocuments(served.documents());

    new NodeRoutes(backend.nodes()).addTo(api);
    new ConfigRoutes(backend.config(), backend.nodes()).addTo(api);
    QueueRoutes queueRoutes = new QueueRoutes(backend.queues(), plugins, callers.here());
    queueRoutes.addTo(api);
    if (callers.outside() == null) {
      QueueEvents.addTo(api, queues, queueRoutes);
    }
    TaskRoutes taskRoutes =
        new TaskRoutes(
            backend.submission(), known, queueRoutes, documents, shapes, callers.traces());
    taskRoutes.addTo(api);
    SearchRoutes searches = new SearchRoutes(served.search(), shapes, backend.queues());
    searches.addReadsTo(api);
    new WaitRoute(backend, served.watch(), old).addTo(api);
    new OutputRoutes(known, served.outputs()).addTo(api);
    new OldRoutes(queueRoutes, taskRoutes, documents, plugins).addTo(api);
    searches.addOldTo(api);
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    addErrors(responses);
  }

  /** Defines the responses to exceptions of queues. */
  public static void addErrors(ErrorResponses responses) {
    responses
        .addUnavailable(StoreFullException.class)
        .add(InvalidRequestException.class, 400)
        .add(TaskStateException.class, 400)
        .addUnavailable(QueuesException.class);
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("sweeper", sweeper));
  }
}
