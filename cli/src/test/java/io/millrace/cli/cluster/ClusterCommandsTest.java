package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class ClusterCommandsTest {
  @TempDir private Path root = Path.of("");

  @Test
  void a_cluster_that_nobody_has_joined_has_no_leader_and_nothing_else() {
    JsonNode status = JsonMapper.shared().readTree(cluster("status", "--json").out());
    assertThat(status.path("leader").isNull()).isTrue();
    assertThat(status.path("leaderExpires").asLong(-1)).isZero();
    assertThat(status.path("members").isEmpty()).isTrue();
    assertThat(status.path("partitions").isEmpty()).isTrue();
    assertThat(cluster("status").out()).startsWith("leader: none");
    assertThat(cluster("members", "--json").out().strip()).isEqualTo("[]");
    assertThat(cluster("locks").out()).startsWith("LOCK");
    assertThat(cluster("partitions").out()).startsWith("PARTITION");
  }

  @Test
  void an_address_that_is_none_is_refused_with_what_it_may_be() {
    for (String address : new String[] {"nowhere", "file:", "redis:x", "store:"}) {
      Shell.CommandResult ran = Shell.run("cluster", "status", "--documents", address);
      assertThat(ran.code()).as(address).isEqualTo(2);
      assertThat(ran.err()).contains("--documents is").contains("'" + address + "'");
    }
  }

  @Test
  void an_index_prefix_that_is_none_is_named() {
    Shell.CommandResult ran =
        Shell.run(
            "cluster",
            "status",
            "--documents",
            "elasticsearch:http://127.0.0.1:1",
            "--index-prefix",
            "Ü");
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err()).contains("an index prefix has").contains("'Ü'");
  }

  @Test
  void documents_that_cannot_be_reached_are_a_failure() {
    Shell.CommandResult ran =
        Shell.run("cluster", "status", "--documents", "store:http://127.0.0.1:1");
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).contains("127.0.0.1:1");
  }

  @Test
  void options_of_a_member_that_do_not_go_together_are_refused() throws IOException {
    Path folder = Files.createDirectory(root.resolve("in"));
    refused("--workers is 1 to 10000, not 0", "--workers", "0");
    refused("a lease lasts 100 ms to a day, not 50 ms", "--lease", "50ms");
    refused("a margin is 0 ms to the 1000 ms of the lease", "--lease", "1s", "--margin", "2s");
    refused("there is no example 'x'", "--example", "x");
    refused("--example files needs --input DIR", "--example", "files");
    refused("belong to --example NAME", "--pace", "1s");
    String in = folder.toString();
    refused(
        "is not a folder",
        "--example",
        "files",
        "--input",
        in + "/none",
        "--output",
        in + ".lines");
    refused(
        "would be one of the files",
        "--example",
        "files",
        "--input",
        in,
        "--output",
        in + "/lines");
    refused("--example port needs --port N", "--example", "port");
    for (String port : new String[] {"0", "65536", "-1"}) {
      refused(
          "--port is 1 to 65535, the same for all members, not " + port,
          "--example",
          "port",
          "--port=" + port);
    }
    refused("--example port needs --output FILE", "--example", "port", "--port", "1");
    refused("belong to --example NAME", "--port", "1");
    refused("--example topic needs --input DIR", "--example", "topic");
    refused(
        "would be one of the files",
        "--example",
        "topic",
        "--input",
        in,
        "--output",
        in + "/lines");
  }

  @Test
  void what_members_report_is_shown() {
    try (VersionedDocuments documents = FileDocuments.open(root.resolve("documents"))) {
      documents.put("status/feed/t1", Version.NONE, "{\"time\":1000,\"text\":\"half\\ndone\"}");
      documents.put(
          "status/feed/t2", Version.NONE, "{\"time\":2000,\"values\":{\"a\":\"1\",\"b\":\"2\"}}");
      documents.put("lock/x", Version.NONE, "{\"holder\":\"t1\",\"expire\":5,\"fence\":7}");
      documents.put("semaphore/s", Version.NONE, "{\"permits\":2}");
      documents.put("semaphore/s/2", Version.NONE, "{\"holder\":\"t2\",\"expire\":5,\"fence\":8}");
    }
    assertThat(cluster("status").out())
        .contains("feed    t1      1970-01-01T00:00:01Z  half·done")
        .contains("feed    t2      1970-01-01T00:00:02Z  a=1, b=2");
    JsonNode status = JsonMapper.shared().readTree(cluster("status", "--json").out());
    assertThat(status.propertyNames())
        .containsExactly("leader", "leaderExpires", "fence", "members", "partitions", "status");
    assertThat(status.path("status").toString())
        .isEqualTo(
            "[{\"name\":\"feed\",\"token\":\"t1\",\"time\":1000,\"text\":\"half\\ndone\"},"
                + "{\"name\":\"feed\",\"token\":\"t2\",\"time\":2000,"
                + "\"values\":{\"a\":\"1\",\"b\":\"2\"}}]");
    assertThat(JsonMapper.shared().readTree(cluster("locks", "--json").out()).toString())
        .isEqualTo(
            "[{\"id\":\"lock/x\",\"holder\":\"t1\",\"expire\":5,\"fence\":7},"
                + "{\"id\":\"semaphore/s/2\",\"holder\":\"t2\",\"expire\":5,\"fence\":8}]");
  }

  private void refused(String words, String... options) {
    String[] arguments = new String[options.length + 3];
    arguments[0] = "member";
    arguments[1] = "--documents";
    arguments[2] = "file:" + root.resolve("documents");
    System.arraycopy(options, 0, arguments, 3, options.length);
    Shell.CommandResult ran = Shell.run(arguments);
    assertThat(ran.code()).as(words).isEqualTo(2);
    assertThat(ran.err()).contains(words);
    assertThat(root.resolve("documents").resolve("config")).doesNotExist();
  }

  private Shell.CommandResult cluster(String... arguments) {
    String[] all = new String[arguments.length + 3];
    all[0] = "cluster";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[arguments.length + 1] = "--documents";
    all[arguments.length + 2] = "file:" + root.resolve("documents");
    Shell.CommandResult ran = Shell.run(all);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran;
  }
}
