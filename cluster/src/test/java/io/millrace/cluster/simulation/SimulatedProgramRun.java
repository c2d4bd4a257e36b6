package io.millrace.cluster.simulation;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.DeathMarks;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.BacklogItems;
import io.millrace.cluster.remote.ItemAssigner;
import io.millrace.cluster.remote.dispatch.Dispatcher;
import io.millrace.cluster.remote.dispatch.Submission;
import io.millrace.cluster.remote.outcome.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A program during one generation. It gives items to idle members, enqueues them again if their
 * lambdas fail, and then often marks the member as dead.
 */
final class SimulatedProgramRun {
  /** The name of its backlog. */
  static final String BACKLOG = "items";

  private final World world;
  private final Faults faults;
  private final MemberContext context;
  private final RemoteChecker checker;
  private final Guard leader;
  private final BacklogItems items;
  private final ItemAssigner assigner;
  private final Map<PartitionName, Address> running = new LinkedHashMap<>();
  private final Deque<Command> commands = new ArrayDeque<>();
  private Dispatcher.View view = Dispatcher.View.nothing();
  private long number;
  private boolean added;
  private boolean over;

  /** A command that is repeated until it succeeds. */
  private interface Command {
    void execute(Dispatcher dispatcher);
  }

  /** The objects that all programs of a simulation share. */
  record Environment(World world, Faults faults, RemoteChecker checker) {}

  SimulatedProgramRun(Environment environment, MemberContext context, Guard leader) {
    this.world = environment.world();
    this.faults = environment.faults();
    this.checker = environment.checker();
    this.context = context;
    this.leader = leader;
    this.items = new BacklogItems(context.documents(), BACKLOG);
    this.assigner = new ItemAssigner(items, leader, generation -> view.isOver(generation));
  }

  void end() {
    over = true;
  }

  /** Runs a round of the program; returns whether it fails and must run in a new generation. */
  boolean submit(Dispatcher dispatcher) {
    view = dispatcher.view();
    try {
      work(dispatcher);
    } catch (ClusterException e) {
      // The next round continues here.
    }
    return faults.isOn() && world.oneIn(200);
  }

  private void work(Dispatcher dispatcher) {
    while (!commands.isEmpty()) {
      commands.getFirst().execute(dispatcher);
      commands.removeFirst();
    }
    if (!added) {
      items.add(IntStream.range(0, RemoteSimulation.ITEMS).mapToObj(i -> "item-" + i).toList());
      added = true;
    }
    if (!running.isEmpty() && faults.isOn() && world.oneIn(20)) {
      dispatcher.cancel(running.keySet().iterator().next());
    }
    List<Peer> spare = spare();
    if (!spare.isEmpty()) {
      Iterator<Peer> members = spare.iterator();
      assigner.take(spare.size()).forEach(item -> submit(dispatcher, item, members.next()));
    }
  }

  private List<Peer> spare() {
    List<Peer> spare = new ArrayList<>();
    for (Peer peer : view.members().nodes()) {
      long own =
          running.values().stream().filter(mine -> mine.member().equals(peer.token())).count();
      long busy = own + view.busy().getOrDefault(peer.token(), 0);
      for (long i = busy; i < peer.workers(); i++) {
        spare.add(peer);
      }
    }
    return spare;
  }

  private void submit(Dispatcher dispatcher, String item, Peer peer) {
    Address address = new Address(new PartitionName(leader.fence(), ++number), peer.token());
    checker.submitted(address);
    running.put(address.partition(), address);
    long limit = world.oneIn(10) ? context.now() + world.between(100, 3000) : Long.MAX_VALUE;
    CompletionListener notified = new CompletionListener(address, item);
    String envelope = SimulatedLambdaHandler.seal(address, item);
    dispatcher.submit(new Submission(address, envelope, limit, notified::begun, notified::ended));
  }

  /** Is notified of the start and the end of a lambda. */
  private final class CompletionListener {
    private final Address address;
    private final String item;

    CompletionListener(Address address, String item) {
      this.address = address;
      this.item = item;
    }

    void begun() {
      Resource.require(!over, "a program hears of its lambdas after its end");
    }

    void ended(Submission.Completion ending) {
      Resource.require(!over, "a program hears of its lambdas after its end");
      checker.notified(address.partition(), ending);
      running.remove(address.partition());
      if (ending instanceof Submission.Completion.Finished(Outcome.Done(String value))) {
        Resource.require(value.equals(item), "the result is that of another lambda");
        return;
      }
      if (!(ending instanceof Submission.Completion.Cancelled) && world.oneIn(2)) {
        commands.add(dispatcher -> {
          leader.check();
          DeathMarks.mark(context.documents(), address.member(), leader.fence());
          dispatcher.marked(address.member());
        });
      }
      commands.add(dispatcher -> assigner.reEnqueue(item));
    }
  }
}
