package io.millrace.cli.cluster;

import io.millrace.cli.Shell;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The documents of the cluster members in a test. */
interface DocumentsFixture {
  /** How commands find it. */
  List<String> options();

  /** What commands need in their environment. */
  Map<String, String> environment();

  /** How long a lease is: requests that take a quarter of it fail. */
  String lease();

  /** How long a member works on a file, long enough to be observed. */
  String pace();

  /** What there is of a cluster, as new as what was written last. */
  JsonNode status() throws IOException;

  /** Documents at an address of which nothing more need be said. */
  static DocumentsFixture at(String address) {
    return new AtAddress(address);
  }

  /** An address of the command line. */
  record AtAddress(String address) implements DocumentsFixture {
    @Override
    public List<String> options() {
      return List.of("--documents", address);
    }

    @Override
    public Map<String, String> environment() {
      return Map.of();
    }

    @Override
    public String lease() {
      return "2s";
    }

    @Override
    public String pace() {
      return "100ms";
    }

    @Override
    public JsonNode status() {
      Shell.CommandResult ran = Shell.run("cluster", "status", "--json", "--documents", address);
      if (ran.code() != 0) {
        throw new AssertionError(ran.err());
      }
      return JsonMapper.shared().readTree(ran.out());
    }
  }
}
