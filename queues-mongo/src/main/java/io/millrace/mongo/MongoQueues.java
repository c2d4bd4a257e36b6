package io.millrace.mongo;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.mongo.MongoConnection.MongoAddress;
import io.millrace.mongo.MongoConnection.MongoRole;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.OutputReader;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.PluginVersion;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.NodeDriver;
import io.millrace.queues.node.Runners;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.registry.Queues.Signal;
import io.millrace.queues.search.TaskFinder;
import io.millrace.work.Step;
import io.millrace.work.StepLoop;
import io.millrace.work.Watch;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The queues of a MongoDB database in which Disbatch 4 keeps its own: the entry of this module.
 * Safe for use by any number of threads; to be closed.
 */
public final class MongoQueues implements QueueBackend, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MongoQueues.class);

  /** The collections of the schema, from which no tasks are created. */
  private static final Set<String> OWN =
      Set.of("nodes", "queues", "tasks", "config", "tasks.files", "tasks.chunks");

  private final MongoConnection connection;
  private final GridFiles files;
  private final MongoDefinitions definitions;
  private final MongoNodes nodes;
  private final MongoConfig config;
  private final MongoTasks tasks;
  private final MongoRuns runs;

  private MongoQueues(
      MongoConnection connection, InstantSource clock, @Nullable BlobStore blobs, String process) {
    this.connection = connection;
    this.files = new GridFiles(connection);
    this.definitions = new MongoDefinitions(connection, clock);
    this.nodes = new MongoNodes(connection, clock);
    this.config = new MongoConfig(connection);
    this.tasks = new MongoTasks(connection, files, definitions, nodes, clock);
    this.runs = new MongoRuns(connection, tasks, files, blobs, clock, process);
  }

  /**
   * A database.
   *
   * @param url {@code mongodb://HOST[:PORT][,…]/DATABASE[?OPTIONS]}, without a password
   * @param credentials a JSON file with {@code username} and {@code password} for each of {@code
   *     disbatchd}, {@code disbatch_web}, {@code task_runner} and {@code plugin}; null for none
   * @param certificates a PEM file with the certificates to trust over TLS, which it turns on; null
   *     for those of the Java runtime, if the options of the url turn TLS on
   */
  public record Address(String url, @Nullable Path credentials, @Nullable Path certificates) {
    /**
     * Checks the form of the url.
     *
     * @throws IllegalArgumentException if it is none of a database, or has a password
     */
    public Address {
      var _ = new MongoAddress(url, credentials, certificates);
    }

    MongoAddress address() {
      return new MongoAddress(url, credentials, certificates);
    }

    /** The arguments of a command line that say this. */
    public List<String> arguments() {
      return address().arguments();
    }

    /**
     * The variables that say this to plugins: {@code MILLRACE_MONGODB_URL}, {@code
     * MILLRACE_MONGODB_AUTH} and {@code MILLRACE_MONGODB_CA}. The latter two name the files, so
     * there is no password in them.
     */
    public Map<String, String> environment() {
      return address().environment();
    }
  }

  /**
   * For an execution node.
   *
   * @param process the identity of its process
   * @throws IllegalArgumentException if its credentials cannot be read
   */
  public static MongoQueues forNode(Address address, InstantSource clock, String process) {
    return open(address, MongoRole.DISBATCHD, clock, null, process);
  }

  /**
   * For the command interface.
   *
   * @throws IllegalArgumentException if its credentials cannot be read
   */
  public static MongoQueues forCommands(Address address, InstantSource clock) {
    return open(address, MongoRole.DISBATCH_WEB, clock, null, "");
  }

  /**
   * For a task runner.
   *
   * @param blobs has its output until a task has ended
   * @throws IllegalArgumentException if its credentials cannot be read
   */
  public static MongoQueues forRunner(Address address, InstantSource clock, BlobStore blobs) {
    return open(address, MongoRole.TASK_RUNNER, clock, blobs, "");
  }

  private static MongoQueues open(
      Address address,
      MongoRole role,
      InstantSource clock,
      @Nullable BlobStore blobs,
      String process) {
    return new MongoQueues(MongoConnection.open(address.address(), role), clock, blobs, process);
  }

  @Override
  public Definitions queues() {
    return definitions;
  }

  @Override
  public Tasks tasks() {
    return tasks;
  }

  @Override
  public Submission submission() {
    return tasks;
  }

  @Override
  public Runs runs() {
    return runs;
  }

  @Override
  public Nodes nodes() {
    return nodes;
  }

  @Override
  public Config config() {
    return config;
  }

  @Override
  public ObjectId newId() {
    return BsonForm.id(new org.bson.types.ObjectId());
  }

  /** Search in its tasks. */
  public TaskFinder search() {
    return tasks;
  }

  /** What plugins of nodes declare is not kept: their params are not checked. */
  @Override
  public Declarations declarations() {
    return new Declarations() {
      @Override
      public void put(String node, Map<String, PluginDeclaration> declared) {}

      @Override
      public List<PluginVersion> versions(String plugin) {
        Optional<PluginDeclaration> builtIn = PluginFolder.ofBuiltIn(plugin);
        if (builtIn.isPresent()) {
          return List.of(new PluginVersion(builtIn, List.of()));
        }
        List<String> having =
            nodes.all().stream()
                .filter(node -> {
                  NodeIdentity presence = node.presence();
                  return presence != null && presence.offers(plugin);
                })
                .map(NodeRecord::name)
                .toList();
        return having.isEmpty() ? List.of() : List.of(new PluginVersion(Optional.empty(), having));
      }
    };
  }

  /** Reads the outputs of its tasks; a task has none while it runs. */
  public OutputReader outputs() {
    return new OutputReader(
        new OutputReader.Files() {
          @Override
          public Optional<Tail> file(Output.Stored output) {
            String field = output.chunkPrefix();
            if (field == null) {
              return files.read(output.file());
            }
            Document task = tasks.read(output.file());
            return Optional.ofNullable(task).map(it -> BsonForm.text(it, field)).map(Tail::of);
          }

          @Override
          public Tail soFar(QueueTask task, Stream stream) {
            return Tail.of("");
          }
        });
  }

  /**
   * The documents of a collection of users, as JSON.
   *
   * @throws InvalidRequestException if it is a collection of the schema or of MongoDB
   */
  public Iterable<ObjectNode> documents(String collection) {
    if (OWN.contains(collection) || collection.startsWith("system.")) {
      throw new InvalidRequestException(
          "collection", "collection " + collection + " belongs to the system");
    }
    return connection.collection(collection).find().map(BsonForm::json);
  }

  /** Begins to watch these tasks until they have ended. */
  public Watch<ObjectId, QueueTask> watch(Collection<ObjectId> ids) {
    List<ObjectId> watched = List.copyOf(ids);
    return Watch.begin(
        new Watch.Source<>() {
          @Override
          public Watch.Changes<ObjectId, QueueTask> open() {
            return new Polled(watched);
          }

          @Override
          public Map<ObjectId, QueueTask> read(Collection<ObjectId> some) {
            return tasks.all(some);
          }

          @Override
          public boolean isOver(@Nullable QueueTask task) {
            return task == null || Status.isFinished(task.status()) || Status.isHeld(task.status());
          }
        },
        watched);
  }

  /** Tasks that are read twice a second. */
  private final class Polled implements Watch.Changes<ObjectId, QueueTask> {
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final List<ObjectId> watched;

    Polled(List<ObjectId> watched) {
      this.watched = watched;
    }

    @Override
    public Map<ObjectId, @Nullable QueueTask> next(Duration timeout, Predicate<ObjectId> wanted)
        throws InterruptedException {
      Thread.sleep(timeout.compareTo(PAUSE) < 0 ? timeout : PAUSE);
      List<ObjectId> open = watched.stream().filter(wanted).toList();
      Map<ObjectId, QueueTask> found = tasks.all(open);
      Map<ObjectId, @Nullable QueueTask> changed = new HashMap<>();
      open.forEach(id -> changed.put(id, found.get(id)));
      return changed;
    }

    @Override
    public void close() {}
  }

  /**
   * Creates the indexes that are missing, and tells a node each second to read queues and
   * configuration and to look for tasks, and which of its tasks are to be ended; and orphans what
   * was claimed and never begun.
   *
   * @param name the name of the node
   */
  public NodeDriver.News news(ExecutionNode node, String name) {
    StepLoop loop =
        StepLoop.start("millrace-node-news", InstantSource.system(), new Rounds(node, name));
    return loop::close;
  }

  private final class Rounds implements Step {
    private static final Duration ROUND = Duration.ofSeconds(1);
    private static final int ROUNDS_OF_DEAD = 60;

    private final ExecutionNode node;
    private final String name;
    private long round;
    private boolean away = true;
    private boolean indexed;

    Rounds(ExecutionNode node, String name) {
      this.node = node;
      this.name = name;
    }

    @Override
    public Instant step(Instant now) {
      try {
        if (!indexed) {
          MongoIndexes.ensure(connection);
          indexed = true;
        }
        List<ObjectId> stops = runs.toStop(name);
        if (away) {
          node.subscribed();
          away = false;
        }
        stops.forEach(task -> node.notice(new Signal.Stop(task)));
        if (node.isServing()) {
          runs.orphanUnbegun(name);
          if (round++ % ROUNDS_OF_DEAD == 0) {
            runs.orphanUnbegunOfDead(definitions.all(), nodes.all());
          }
        }
        node.notice(new Signal.SettingsChanged());
      } catch (RuntimeException e) {
        // The node itself says that it waits.
        LOG.debug("the database is away", e);
        away = true;
      }
      return now.plus(ROUND);
    }
  }

  /**
   * Runners whose node looks for another task of the queue as soon as one has ended, instead of in
   * the next second.
   *
   * @param tell takes the signal
   */
  public static Runners withBells(Runners runners, Consumer<Signal> tell) {
    return new BellRunners(runners, tell);
  }

  private static final class BellRunners implements Runners {
    private final Runners runners;
    private final Consumer<Signal> tell;
    private final Map<ObjectId, ObjectId> queues = new ConcurrentHashMap<>();

    BellRunners(Runners runners, Consumer<Signal> tell) {
      this.runners = runners;
      this.tell = tell;
    }

    @Override
    public Set<ObjectId> recover(Collection<Run> left, Listener listener) {
      left.forEach(this::note);
      return runners.recover(left, new Ringing(listener));
    }

    private void note(Run run) {
      queues.put(run.task(), run.queue());
    }

    @Override
    public boolean offer(Run run, String plugin, NodeConfig settings) {
      note(run);
      return runners.offer(run, plugin, settings);
    }

    @Override
    public int starting() {
      return runners.starting();
    }

    @Override
    public void prepare(NodeConfig settings) {
      runners.prepare(settings);
    }

    @Override
    public int idle(NodeConfig settings) {
      return runners.idle(settings);
    }

    @Override
    public void begin(Run run, String plugin, NodeConfig settings) {
      note(run);
      runners.begin(run, plugin, settings);
    }

    @Override
    public void stop(ObjectId task, Duration grace) {
      runners.stop(task, grace);
    }

    @Override
    public void close() {
      runners.close();
    }

    private final class Ringing implements Listener {
      private final Listener listener;

      Ringing(Listener listener) {
        this.listener = listener;
      }

      @Override
      public void ended(ObjectId task) {
        listener.ended(task);
        ring(task);
      }

      @Override
      public void lost(ObjectId task, String reason) {
        listener.lost(task, reason);
        ring(task);
      }

      @Override
      public void begun() {
        listener.begun();
      }

      @Override
      public void notStarted(ObjectId task, String reason) {
        listener.notStarted(task, reason);
      }

      private void ring(ObjectId task) {
        ObjectId queue = queues.remove(task);
        if (queue != null) {
          tell.accept(new Signal.Bell(queue, List.of()));
        }
      }
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
