package io.millrace.cli.proxy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class NginxProxyTest extends ProxyContract {
  @Override
  String program() {
    return "nginx";
  }

  @Override
  List<String> prepare(Site site) throws IOException {
    String own =
        site.configuration("nginx.conf")
            .replace("  listen [::]:443 ssl http2;\n", "")
            .replace("listen 443 ssl", "listen 127.0.0.1:" + site.port() + " ssl")
            .replace("/etc/ssl/millrace/certificate.pem", site.certificate().toString())
            .replace("/etc/ssl/millrace/key.pem", site.key().toString());
    Path file =
        Files.writeString(
            site.folder().resolve("nginx.conf"),
            """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log stderr;
            events {}
            http {
              access_log off;
              client_body_temp_path body;
              proxy_temp_path proxy;
              fastcgi_temp_path fastcgi;
              uwsgi_temp_path uwsgi;
              scgi_temp_path scgi;
            %s
            }
            """
                .formatted(own));
    return List.of("nginx", "-p", site.folder().toString(), "-c", file.toString());
  }
}
