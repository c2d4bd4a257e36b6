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
 * A program during one generation, turn by turn: gives items to idle members, and has them wait
 * again where that comes to nothing, after which it often trusts the member no more.
 */
final class SimulatedLead {
  /** What its backlog is called. */
  static final String BACKLOG = "items";

  private final World world;
  private final Trouble trouble;
  private final MemberContext context;
  private final RemoteJudge judge;
  private final Guard leader;
  private final BacklogItems items;
  private final ItemAssigner assigner;
  private final Map<PartitionName, Address> running = new LinkedHashMap<>();
  private final Deque<Order> orders = new ArrayDeque<>();
  private Dispatcher.View view = Dispatcher.View.nothing();
  private long number;
  private boolean added;
  private boolean over;

  /** Something to be tried until it comes through. */
  private interface Order {
    void carryOut(Dispatcher dispatcher);
  }

  /** What all programs of a simulation share. */
  record Setting(World world, Trouble trouble, RemoteJudge judge) {}

  SimulatedLead(Setting setting, MemberContext context, Guard leader) {
    this.world = setting.world();
    this.trouble = setting.trouble();
    this.judge = setting.judge();
    this.context = context;
    this.leader = leader;
    this.items = new BacklogItems(context.documents(), BACKLOG);
    this.assigner = new ItemAssigner(items, leader, generation -> view.isOver(generation));
  }

  void end() {
    over = true;
  }

  /** Whether the program fails, and is to be run in another generation. */
  boolean submit(Dispatcher dispatcher) {
    view = dispatcher.view();
    try {
      work(dispatcher);
    } catch (ClusterException e) {
      // The next turn goes on here.
    }
    return trouble.isOn() && world.oneIn(200);
  }

  private void work(Dispatcher dispatcher) {
    while (!orders.isEmpty()) {
      orders.getFirst().carryOut(dispatcher);
      orders.removeFirst();
    }
    if (!added) {
      items.add(IntStream.range(0, RemoteSimulation.ITEMS).mapToObj(i -> "item-" + i).toList());
      added = true;
    }
    if (!running.isEmpty() && trouble.isOn() && world.oneIn(20)) {
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
    judge.submitted(address);
    running.put(address.partition(), address);
    long limit = world.oneIn(10) ? context.now() + world.between(100, 3000) : Long.MAX_VALUE;
    Told told = new Told(address, item);
    String envelope = SimulatedLambdas.seal(address, item);
    dispatcher.submit(new Submission(address, envelope, limit, told::begun, told::ended));
  }

  /** Hears what comes of a lambda. */
  private final class Told {
    private final Address address;
    private final String item;

    Told(Address address, String item) {
      this.address = address;
      this.item = item;
    }

    void begun() {
      Resource.require(!over, "a program hears of its lambdas after its end");
    }

    void ended(Submission.Completion ending) {
      Resource.require(!over, "a program hears of its lambdas after its end");
      judge.told(address.partition(), ending);
      running.remove(address.partition());
      if (ending instanceof Submission.Completion.Finished(Outcome.Done(String value))) {
        Resource.require(value.equals(item), "the result is that of another lambda");
        return;
      }
      if (!(ending instanceof Submission.Completion.Cancelled) && world.oneIn(2)) {
        orders.add(dispatcher -> {
          leader.check();
          DeathMarks.mark(context.documents(), address.member(), leader.fence());
          dispatcher.marked(address.member());
        });
      }
      orders.add(dispatcher -> assigner.reEnqueue(item));
    }
  }
}
