package io.millrace.queues.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The database that plugins in Perl find at their workerthread. */
class PerlDatabaseTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String ID = "571fac85ee63413233049fbd";

  /** A driver that shows what it gets. */
  private static final String DRIVER =
      """
      package MongoDB;
      our $connections;
      sub connect {
          my ($class, $url, $attributes) = @_;
          $connections++;
          return bless {url => $url, attributes => $attributes}, 'MongoDB::Client';
      }
      package MongoDB::Client;
      sub get_database { return bless {%{$_[0]}, name => $_[1], options => $_[2]}, 'MongoDB::DB' }
      package MongoDB::DB;
      sub get_collection { return "$_[0]{name}.$_[1]" }
      1;
      """;

  @TempDir private Path folder = Path.of("");

  @BeforeAll
  static void perl() {
    assumeTrue(ProcessLauncher.program("perl").isPresent(), "perl is not installed");
  }

  /** What this body of {@code run} returns as {@code stdout}, or what is said of its failure. */
  private String run(String body, String... variables)
      throws IOException, InterruptedException, PluginException {
    Files.writeString(
        folder.resolve("Site.pm"),
        """
        package Site;
        use JSON::PP;
        sub new { my ($class, %%self) = @_; return bless \\%%self, $class }
        sub run {
            my ($self) = @_;
            my $workerthread = $self->{workerthread};
            my $id = $self->{task}{_id};
            return {status => 1, stdout => do { %s }};
        }
        1;
        """
            .formatted(body));
    ProgramForm.Call call =
        new PerlModules(List.of(folder)).form("Site").orElseThrow().call(JSON.createObjectNode());
    ObjectNode task = ProgramForm.document(ID, ID, "node", JSON.createObjectNode());
    task.putObject("ctime").put("$date", 1_461_693_573_000L);
    Path input = Files.writeString(folder.resolve("task"), task.toString());
    Path errors = folder.resolve("errors");
    Path stdout = folder.resolve("stdout");
    Files.deleteIfExists(stdout);
    ProcessBuilder builder =
        new ProcessBuilder(call.command())
            .redirectInput(input.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(errors.toFile());
    Map<String, String> environment = builder.environment();
    environment.put("MILLRACE_STATUS_FILE", folder.resolve("status").toString());
    environment.put("MILLRACE_RETURNED_STDOUT", stdout.toString());
    environment.put("MILLRACE_RETURNED_STDERR", folder.resolve("stderr").toString());
    for (int i = 0; i < variables.length; i += 2) {
      environment.put("MILLRACE_MONGODB_" + variables[i], variables[i + 1]);
    }
    builder.start().waitFor();
    return Files.readString(Files.exists(stdout) ? stdout : errors, StandardCharsets.UTF_8);
  }

  private Path credentials(String json) throws IOException {
    return Files.writeString(folder.resolve("auth.json"), json.replace('\'', '"'));
  }

  @Test
  void the_driver_gets_the_address_and_what_plugin_connects_with() throws Exception {
    Files.writeString(folder.resolve("MongoDB.pm"), DRIVER);
    Path auth =
        credentials(
            "{'disbatchd': {'username': 'd', 'password': 'x'},"
                + " 'plugin': {'username': 'p', 'password': 'se:cr@t', 'more': 1}}");

    String shown =
        run(
            """
            my $before = $MongoDB::connections || 0;
            my $mongo = $workerthread->mongo;
            JSON::PP->new->encode({%$mongo, before => $before, config => $workerthread->{config},
                node => exists $workerthread->{node}, again => $workerthread->mongo == $mongo,
                collections => [map { $workerthread->$_ } qw(nodes queues tasks config)]});
            """,
            "URL",
            "mongodb://a,b/dis%62atch?replicaSet=r&w=1&tls=false",
            "AUTH",
            auth.toString(),
            "CA",
            "/etc/ca.pem");

    JsonNode wanted =
        JSON.readTree(
            """
            {
              "before": 0,
              "node": 1,
              "again": 1,
              "url": "mongodb://a,b/dis%62atch?replicaSet=r&w=1&tls=true",
              "attributes": {
                "username": "p", "password": "se:cr@t", "ssl": {"SSL_ca_file": "/etc/ca.pem"}
              },
              "name": "disbatch",
              "options": {
                "read_preference": "primary",
                "write_concern": {"w": "majority", "wtimeout": null}
              },
              "config": {
                "mongohost": "mongodb://a,b/dis%62atch?replicaSet=r&w=1&tls=true",
                "database": "disbatch"
              },
              "collections": [
                "disbatch.nodes", "disbatch.queues", "disbatch.tasks", "disbatch.config"
              ]
            }
            """);
    assertThat(JSON.readTree(shown)).as(shown).isEqualTo(wanted);
    assertThat(
            run(
                "JSON::PP->new->encode($workerthread->mongo->{attributes})",
                "URL",
                "mongodb://a/disbatch"))
        .isEqualTo("{}");
  }

  @Test
  void why_there_is_no_database_is_said() throws Exception {
    String url = "mongodb://a/disbatch";
    assertThat(run("$workerthread->mongo"))
        .contains("has no mongo: Millrace gives plugins no connection to a database");
    assertThat(run("$workerthread->{config} ? 'a hash' : 'none'")).isEqualTo("a hash");

    Files.writeString(folder.resolve("MongoDB.pm"), DRIVER);
    Path auth = credentials("{'task_runner': {'username': 't', 'password': 'x'}}");
    String noPlugin = auth + " has no plugin with username and password";
    assertThat(run("$workerthread->mongo", "URL", url, "AUTH", auth.toString())).contains(noPlugin);
    credentials("{'plugin': {'username': 't'}}");
    assertThat(run("$workerthread->mongo", "URL", url, "AUTH", auth.toString())).contains(noPlugin);
    assertThat(run("$workerthread->mongo", "URL", url, "AUTH", "/no/file")).contains("/no/file: ");
    assertThat(run("$workerthread->load_config", "URL", url))
        .contains("the workerthread has no load_config")
        .doesNotContain("no connection");

    Files.writeString(folder.resolve("MongoDB.pm"), "use No::Such::Module; 1;");
    assertThat(run("'unused'", "URL", url)).isEqualTo("unused");
    assertThat(run("$workerthread->tasks", "URL", url))
        .contains("the Perl module MongoDB cannot be loaded", "No/Such/Module.pm");
  }

  @Test
  void the_driver_of_MongoDB_takes_it_and_stores_the_ids_and_times_of_tasks() throws Exception {
    assumeTrue(
        new ProcessBuilder("perl", "-MMongoDB", "-e", "exit !($MongoDB::VERSION ge 'v2')")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor()
            == 0,
        "the Perl module MongoDB is not installed");

    assertThat(
            run(
                """
                my $tasks = $workerthread->tasks;
                require BSON;
                my $copy = BSON->new->decode_one(
                    BSON->new->encode_one({id => $id, at => $self->{task}{ctime}}));
                join ' ', $tasks->full_name, $tasks->read_preference->mode, $tasks->write_concern->w,
                    ref $copy->{id}, $copy->{id}, ref $copy->{at}, $copy->{at}->epoch, "$id";
                """,
                "URL",
                "mongodb://127.0.0.1:1/disbatch?readPreference=secondary&w=1"))
        .isEqualTo(
            "disbatch.tasks primary majority BSON::OID %s BSON::Time 1461693573 %s"
                .formatted(ID, ID));
  }
}
