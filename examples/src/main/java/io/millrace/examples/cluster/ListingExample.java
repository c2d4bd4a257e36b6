package io.millrace.examples.cluster;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.remote.Backlog;
import io.millrace.cluster.remote.RemoteExecutor;
import io.millrace.cluster.remote.RemoteMember;
import io.millrace.cluster.remote.RemoteWork;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes a listing of files: the leader lists a folder, and each idle member hashes one file.
 * The backlog {@code files} holds the state of each file; if a member fails or times out, its file
 * is given to another member.
 */
public final class ListingExample implements RemoteWork {
  private static final Logger LOG = LoggerFactory.getLogger(ListingExample.class);
  private static final String FILES = "files";
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final InputFolder input;
  private final Context context;

  /**
   * The parameters of a lambda; small, because each lambda carries a copy.
   *
   * @param input the folder
   * @param output the output file
   * @param pace the minimum time for each file
   */
  private record Context(String input, String output, Duration pace) implements Serializable {}

  /**
   * The example.
   *
   * @param input the folder; only plain files directly in it count
   * @param output the output file, not in that folder
   * @param pace the minimum time for each file
   */
  public ListingExample(Path input, Path output, Duration pace) {
    this.input = new InputFolder(input);
    this.context = new Context(input.toString(), output.toString(), pace);
  }

  @Override
  public void lead(RemoteExecutor executor) throws InterruptedException {
    Backlog files = executor.backlog(FILES);
    Set<String> listed = new HashSet<>();
    while (true) {
      List<RemoteMember> idle = executor.idleMembers();
      List<String> fresh = input.names().stream().filter(name -> !listed.contains(name)).toList();
      files.add(fresh);
      listed.addAll(fresh);
      Iterator<RemoteMember> members = idle.iterator();
      for (String name : files.take(idle.size(), LOOK)) {
        submit(members.next(), files, name);
      }
    }
  }

  private void submit(RemoteMember member, Backlog files, String name) {
    // The lambda captures these variables, not this object, which is not serializable.
    Context its = context;
    member
        .submit(() -> run(its, name))
        .onFailureOrTimeout(() -> {
          member.markDead();
          files.reEnqueue(name);
        });
  }

  /**
   * Runs on the member. The name is committed after the line is written, so a file may be hashed
   * twice.
   */
  private static @Nullable Void run(Context context, String name)
      throws IOException, InterruptedException {
    Guard guard = Member.guard();
    Optional<String> hash = new InputFolder(Path.of(context.input())).hash(name);
    Thread.sleep(context.pace());
    // The output refuses a late line only if there is a newer one.
    guard.check();
    if (hash.isPresent()) {
      ResultFile.at(Path.of(context.output()))
          .append(new ResultFile.Line(name, hash.get(), Member.current().token(), guard.fence()));
    } else {
      LOG.warn("{} is gone; no line is written for it", name);
    }
    Backlog.named(FILES).commit(name);
    return null;
  }
}
