# proctor's commands, for machines that ask models and servers: docker build -f deploy/client.Dockerfile -t proctor .
# How to run it is in docs/how-to/deploy-a-server.md. Without --on it judges itself, as a server's image does.
ARG BASE=docker.io/library/python:3.12-slim

FROM ${BASE} AS build
COPY . /source
RUN sh /source/deploy/install.sh /source /opt/proctor eval

FROM ${BASE}
COPY --from=build /opt/proctor /opt/proctor
ENV PYTHONPATH=/opt/proctor PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["python3", "-P", "/opt/proctor/bin/proctor"]
