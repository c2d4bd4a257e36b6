package io.millrace.server.graph;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveSource;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.schedule.GraphScheduler;
import io.millrace.graph.schedule.NodeExplainer;
import io.millrace.graph.schedule.SchedulerContext;
import io.millrace.graph.schedule.SchedulerOptions;
import io.millrace.graph.store.StoredGraph;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.graph.type.StandardTypes;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.jobs.registry.ArchivedJobs;
import io.millrace.jobs.registry.Jobs;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskArchive;
import io.millrace.server.Part;
import io.millrace.server.ServerException;
import io.millrace.server.graph.type.JobNodeType;
import io.millrace.server.graph.type.JobNodeType.GraphJobs;
import io.millrace.server.graph.type.QueueTaskType;
import io.millrace.server.graph.type.QueuedCommandType;
import io.millrace.server.graph.type.Tasks;
import io.millrace.server.metrics.GraphFigures;
import io.millrace.server.security.FilePermissions;
import io.millrace.server.why.WhyPart.Explainer;
import io.millrace.store.TaskStore;
import io.millrace.work.Explanation;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.SharedLimits.Usage;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The graph of a server: its nodes, their types and their scheduler. */
public final class GraphPart implements Part {
  private static final Set<String> COMMANDS = Set.of("command", "shell command");
  private static final long END_SECONDS = 5;

  private final GraphSettings settings;
  private final Path folder;
  private final ProcessLauncher launcher;
  private final Types types;
  private final StoredGraph graph;
  private final Archive archive;
  private final GraphTokens tokens;
  private final ExecutorService runs =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("graph-run-", 0).factory());
  private @Nullable GraphFigures figures;
  private @Nullable GraphScheduler scheduler;

  private GraphPart(
      GraphSettings settings,
      Path folder,
      ProcessLauncher launcher,
      Types types,
      StoredGraph graph,
      Archive archive) {
    this.settings = settings;
    this.folder = folder;
    this.launcher = launcher;
    this.types = types;
    this.graph = graph;
    this.archive = archive;
    this.tokens = new GraphTokens(graph::secret, graph.registry()::node);
  }

  /**
   * What it is built on.
   *
   * @param folder the folder of the store
   * @param archived the archived tasks of the queues
   * @param archive where finished graphs go
   */
  public record Base(
      TaskStore store,
      BlobStore blobs,
      Path folder,
      Queues queues,
      TaskArchive archived,
      Jobs jobs,
      Archive archive) {}

  /** Whether the reach of a caller includes a node, by its id; false if there is no such node. */
  public boolean reaches(Request request, String node) {
    return NodeId.parse(node)
        .filter(id -> GraphReach.of(request, graph.registry()).includes(id))
        .isPresent();
  }

  /**
   * Whether a caller may have these nodes added.
   *
   * @param parent the node below which they are; null for the root
   */
  public boolean mayAdd(Request request, @Nullable NodeId parent, List<NewNode> nodes) {
    GraphReach reach = GraphReach.of(request, graph.registry());
    boolean reached = parent == null ? reach.isUnlimited() : reach.includes(parent);
    return reached && reach.unreachable(nodes).isEmpty();
  }

  /**
   * Why a node waits; empty if there is none within the caller's reach. A node that runs elsewhere,
   * as a queue task or job, has its reasons too.
   */
  public Optional<Explanation> explain(
      Request request, String node, Sharing sharing, Explainer tasks, Explainer jobs) {
    GraphReach reach = GraphReach.of(request, graph.registry());
    Optional<GraphNode> found = NodeId.parse(node).flatMap(reach::find);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    NodeExplainer explainer =
        new NodeExplainer(
            graph.registry(),
            types.all(),
            settings.scheduling(folder),
            limited -> graph.limitReasons(limited, reach::includes, sharing));
    Explanation own = explainer.explain(found.get(), reach::includes, Clock.systemUTC().millis());
    Optional<Explanation> elsewhere =
        switch (types.all().find(found.get().definition().type()).orElse(null)) {
          case QueueTaskType _ ->
              taskOf(found.get()).flatMap(id -> tasks.explain(request, id, sharing));
          case QueuedCommandType _ ->
              taskOf(found.get()).flatMap(id -> tasks.explain(request, id, sharing));
          case JobNodeType _ when found.get().phase() instanceof Phase.Running running ->
              jobs.explain(request, JobNodeType.key(found.get().id(), running.attempt()), sharing);
          case null, default -> Optional.empty();
        };
    return Optional.of(
        elsewhere.filter(Explanation::waiting).map(work -> own.handedOn(work)).orElse(own));
  }

  /** The nodes that count against a shared limit, as far as the caller may see them. */
  public Running sharing(Request request, Usage usage) {
    return graph.sharing(usage, GraphReach.of(request, graph.registry())::includes);
  }

  /** How many nodes hold or wait for permits under a shared limit. */
  public long limited(String limit) {
    return graph.limited(limit);
  }

  /** The queue task of a running node. */
  private static Optional<String> taskOf(GraphNode node) {
    return node.phase() instanceof Phase.Running running
        ? Optional.of(Tasks.id(node.id(), running.attempt(), running.startedMillis()).hex())
        : Optional.empty();
  }

  /** The types of nodes, and what has to be closed with them. */
  private record Types(NodeTypes all, StandardTypes standard, Tasks tasks, GraphJobs jobs)
      implements AutoCloseable {
    @Override
    public void close() {
      standard.close();
      tasks.close();
      jobs.close();
    }
  }

  /**
   * Reads the graph; nothing runs before {@link #start}.
   *
   * @throws ServerException if this machine lacks a program that is needed to run commands
   */
  public static GraphPart open(GraphSettings settings, Base base, RandomGenerator random) {
    ProcessLauncher launcher;
    try {
      launcher = ProcessLauncher.create();
    } catch (ProcessException e) {
      throw new ServerException("commands of graphs cannot run: " + e.getMessage(), e);
    }
    AtomicReference<@Nullable GraphRegistry> opened = new AtomicReference<>();
    Types types = types(settings, base, launcher, work -> started(opened.get(), work));
    StoredGraph graph =
        StoredGraph.open(base.store(), base.blobs(), types.all(), Clock.systemUTC(), random);
    graph.work().readOutputsFrom(new NotStarted());
    opened.set(graph.registry());
    return new GraphPart(settings, base.folder(), launcher, types, graph, base.archive());
  }

  private static Types types(
      GraphSettings settings,
      Base base,
      ProcessLauncher launcher,
      ToLongFunction<AttemptContext> started) {
    StandardTypes standard = new StandardTypes(launcher);
    Tasks tasks =
        new Tasks(base.queues(), base.archived(), base.queues().output(base.blobs()), started);
    GraphJobs jobs = new GraphJobs(base.jobs(), new ArchivedJobs(base.archive(), base.blobs()));
    List<NodeType> all = new ArrayList<>();
    String queue = settings.queue();
    for (NodeType type : standard.types()) {
      all.add(
          queue != null && COMMANDS.contains(type.name())
              ? new QueuedCommandType(type, tasks, queue)
              : type);
    }
    all.add(new QueueTaskType(tasks));
    all.add(new JobNodeType(jobs));
    return new Types(new NodeTypes(all), standard, tasks, jobs);
  }

  /** The graph. */
  public StoredGraph graph() {
    return graph;
  }

  /**
   * The graphs that have ended and leave the store.
   *
   * @param needed gives nodes whose graphs stay
   */
  public ArchiveSource retention(Supplier<Set<NodeId>> needed) {
    return graph.retention(settings.retention(), needed);
  }

  /** Where its graphs go that have ended. */
  public Archive archive() {
    return archive;
  }

  /** When a running attempt started; 0 if that is unknown. */
  private static long started(@Nullable GraphRegistry graph, AttemptContext work) {
    return graph == null
        ? 0
        : graph
            .node(work.id())
            .map(GraphNode::phase)
            .filter(Phase.Running.class::isInstance)
            .map(phase -> ((Phase.Running) phase).startedMillis())
            .orElse(0L);
  }

  @Override
  public List<Route> routes() {
    return routes(graph.registry(), tokens);
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    addErrors(responses);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    GraphFigures shown = GraphFigures.show(graph.registry(), registry);
    figures = shown;
    return shown::refresh;
  }

  @Override
  public List<Level> levels() {
    Map<NodeState, Long> counts = graph.registry().counts();
    long waiting =
        Stream.of(NodeState.INCIPIENT, NodeState.READY)
            .mapToLong(state -> counts.getOrDefault(state, 0L))
            .sum();
    return List.of(new Level("nodes", waiting, counts.getOrDefault(NodeState.RUNNING, 0L)));
  }

  @Override
  public List<Activity> activities() {
    return List.of(new Activity("graph-sweeper", graph.sweeper(archive)));
  }

  /** Starts the scheduler; nodes that ran when the server stopped are found first. */
  @Override
  public void start(String url) {
    String given = settings.url();
    String reached = given == null ? url : given;
    SchedulerContext context =
        new SchedulerContext(
            launcher,
            (id, attempt) ->
                Map.of("MILLRACE_URL", reached, "MILLRACE_TOKEN", tokens.of(id, attempt)),
            runs,
            new SplittableRandom());
    SchedulerOptions options = settings.scheduling(folder);
    scheduler =
        new GraphScheduler(
            figures == null ? graph.work() : figures.measure(graph.work()),
            types.all(),
            options,
            context);
    FilePermissions.warnIfShared("folder of graph commands", options.folder());
    scheduler.start(Clock.systemUTC());
  }

  /**
   * Stops the scheduler, and waits a little for attempts that are being begun or stored; running
   * commands go on, and the next start finds them.
   */
  @Override
  public void close() {
    if (scheduler != null) {
      scheduler.close();
    }
    runs.shutdown();
    try {
      boolean _ = runs.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    types.close();
  }

  /** The output of running nodes before there is a scheduler: it is not known yet. */
  private static final class NotStarted implements GraphWork.Outputs {
    private final CountDownLatch never = new CountDownLatch(1);

    @Override
    public @Nullable Tail of(NodeId id, String key) {
      return null;
    }

    @Override
    public boolean isKnown(NodeId id, Duration within) throws InterruptedException {
      return never.await(within.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /**
   * The routes that only read the graph of a store. Nodes have no versions there.
   *
   * @param blobs holds data that is too large for the store
   */
  public static List<Route> reads(TaskStore store, BlobStore blobs, RandomGenerator random) {
    Map<String, Set<String>> outputs = new HashMap<>(StandardTypes.outputs());
    outputs.put(QueueTaskType.NAME, QueueTaskType.OUTPUTS);
    outputs.put(JobNodeType.NAME, JobNodeType.OUTPUTS);
    GraphRegistry graph = StoredGraph.reading(store, blobs, outputs, Clock.systemUTC(), random);
    ApiRoutes api = ApiRoutes.below("/v1").limitable().credentials(GraphTokens.ofLeader());
    new NodeRoutes(graph, InstantSource.system()).addReadsTo(api);
    new DataRoutes(graph).addReadsTo(api);
    new SchedulerRoutes(graph).addReadsTo(api);
    return api.routes();
  }

  /** The routes under {@code /v1}, which answer unknown parameters with 400. */
  static List<Route> routes(GraphRegistry graph, GraphTokens tokens) {
    ApiRoutes api = ApiRoutes.below("/v1").limitable().credentials(tokens);
    new NodeRoutes(graph, InstantSource.system()).addTo(api);
    new DataRoutes(graph).addTo(api);
    new SchedulerRoutes(graph).addTo(api);
    api.strictQuery(GraphEvents.PARAMETERS)
        .get("/events", request -> GraphEvents.response(request, graph));
    return api.routes();
  }

  /** Defines the responses to failures of the graph. */
  public static void addErrors(ErrorResponses responses) {
    responses
        .add(InvalidGraphException.class, 400)
        .add(NotAllowedException.class, 403)
        .add(UnknownNodeException.class, 404)
        .add(UnknownKeyException.class, 404)
        .add(NodeStateException.class, 409)
        .add(StaleViewException.class, 409)
        .add(VersionLostException.class, 410)
        .add(VersionException.class, 412)
        .addUnavailable(GraphFullException.class)
        .addUnavailable(GraphException.class);
  }
}
