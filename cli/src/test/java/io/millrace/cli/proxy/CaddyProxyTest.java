package io.millrace.cli.proxy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class CaddyProxyTest extends ProxyContract {
  @Override
  String program() {
    return "caddy";
  }

  @Override
  List<String> prepare(Site site) throws IOException {
    String options =
        """
        {
          admin off
          auto_https disable_redirects
          skip_install_trust
        }
        """;
    String address =
        "https://127.0.0.1:%d {\nbind 127.0.0.1\ntls %s %s\n"
            .formatted(site.port(), site.certificate(), site.key());
    Path file =
        Files.writeString(
            site.folder().resolve("Caddyfile"),
            options
                + site.configuration("Caddyfile")
                    .replace("\nmillrace.example.com {\n", "\n" + address));
    return List.of("caddy", "run", "--config", file.toString(), "--adapter", "caddyfile");
  }
}
