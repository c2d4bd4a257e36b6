package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A network of its own, connected with this machine by a link: to a server, a program in it is one
 * of another machine. It needs root, Linux and {@code ip}, and stays until it is deleted.
 *
 * @param outside the address of this machine on the link
 * @param inside the address of the other end
 */
record Network(String name, String outside, String inside) {
  /** Skips a test where networks cannot be made. */
  static void assumePossible() throws IOException, InterruptedException {
    boolean root = System.getProperty("user.name").equals("root");
    assumeTrue(root && ProcessLauncher.program("ip").isPresent(), "networks need root, and ip");
    boolean may = new ProcessBuilder("unshare", "--net", "true").start().waitFor() == 0;
    assumeTrue(may, "networks cannot be made here");
  }

  /**
   * Makes a network.
   *
   * @param number which of those of this process, from 0 to 62
   */
  static Network make(int number) throws IOException, InterruptedException {
    long pid = ProcessHandle.current().pid();
    String part = "10.%d.%d.".formatted(200 + pid % 50, pid / 50 % 250);
    Network made =
        new Network(
            "mr%d-%d".formatted(pid, number), part + (4 * number + 1), part + (4 * number + 2));
    ip("netns add " + made.name);
    ip("link add " + made.name + " type veth peer name inside netns " + made.name);
    ip("address add " + made.outside + "/30 dev " + made.name);
    ip("-n " + made.name + " address add " + made.inside + "/30 dev inside");
    ip("-n " + made.name + " link set inside up");
    ip("-n " + made.name + " link set lo up");
    made.connect(true);
    return made;
  }

  /** Lets everything through, or nothing. */
  void connect(boolean whole) throws IOException, InterruptedException {
    ip("link set " + name + (whole ? " up" : " down"));
  }

  /** Loses what is sent into the network, or not any more. */
  void deafen(boolean deaf) throws IOException, InterruptedException {
    // Frames for another card are passed over.
    String other = deaf ? "replace %s lladdr 02:00:00:00:00:01 nud permanent" : "delete %s";
    ip("neighbour " + other.formatted(inside) + " dev " + name);
  }

  /** The command line of a program that is to run in it. */
  List<String> command(List<String> command) {
    List<String> within = new ArrayList<>(List.of("ip", "netns", "exec", name));
    within.addAll(command);
    return within;
  }

  /**
   * Sends bytes from within, and returns what comes back in three seconds; empty if nothing does.
   *
   * @param scratch a file for the answer
   */
  String exchange(String host, int port, String bytes, Path scratch)
      throws IOException, InterruptedException {
    String script =
        "exec 3<>/dev/tcp/%s/%d; printf '%s' >&3; exec timeout 3 cat <&3"
            .formatted(host, port, bytes);
    Process caller =
        new ProcessBuilder(command(List.of("bash", "-c", script)))
            .redirectOutput(scratch.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    caller.waitFor();
    return Files.readString(scratch, StandardCharsets.ISO_8859_1);
  }

  /** Removes it. Programs in it go on without a link. */
  void delete() throws IOException, InterruptedException {
    ip("netns delete " + name);
  }

  private static void ip(String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments.split(" ", -1)));
    Process ip = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(ip.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(ip.waitFor()).as("ip %s: %s", arguments, said).isZero();
  }
}
