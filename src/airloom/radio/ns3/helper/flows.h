// ns-3's flow monitor, for frames that have no IP header: a flow is from one node to another, and a frame to all is one
// of each flow of its sender.

#pragma once

#include "link.h"

#include "ns3/flow-monitor-module.h"

class Pairs : public FlowClassifier
{
  public:
    explicit Pairs(std::vector<std::string> names) : m_names(std::move(names)) {}

    FlowId Flow(uint32_t sender, uint32_t receiver) const
    {
        return 1 + sender * MOST + receiver;
    }

    uint32_t Sender(FlowId flow) const
    {
        return (flow - 1) / MOST;
    }

    uint32_t Receiver(FlowId flow) const
    {
        return (flow - 1) % MOST;
    }

    uint32_t Count() const
    {
        return m_names.size();
    }

    void SerializeToXmlStream(std::ostream& out, uint16_t indent) const override
    {
        std::string margin(indent, ' ');
        out << margin << "<AirloomFlowClassifier>\n";
        for (uint32_t sender = 0; sender < Count(); sender++)
        {
            for (uint32_t receiver = 0; receiver < Count(); receiver++)
            {
                if (sender != receiver)
                {
                    out << margin << "  <Flow flowId=\"" << Flow(sender, receiver) << "\" sender=\"" << m_names[sender]
                        << "\" receiver=\"" << m_names[receiver] << "\" />\n";
                }
            }
        }
        out << margin << "</AirloomFlowClassifier>\n";
    }

    void Add(const std::string& name)
    {
        m_names.push_back(name);
    }

  private:
    static constexpr uint32_t MOST = 1 << 16; // nodes, whose flows have numbers
    std::vector<std::string> m_names;
};

class PairsProbe : public FlowProbe
{
  public:
    explicit PairsProbe(Ptr<FlowMonitor> monitor) : FlowProbe(monitor) {}
};

class Flows
{
  public:
    Flows(std::string path, std::vector<std::string> names)
        : m_path(std::move(path)),
          m_pairs(Create<Pairs>(std::move(names)))
    {
        m_monitor->AddFlowClassifier(m_pairs);
        m_monitor->StartRightNow();
    }

    void Add(const std::string& name)
    {
        m_pairs->Add(name);
    }

    void Sent(const FrameTag& frame, int32_t to, uint32_t size)
    {
        for (uint32_t receiver = 0; receiver < m_pairs->Count(); receiver++)
        {
            if (to < 0 ? receiver != frame.sender : receiver == uint32_t(to))
            {
                m_monitor->ReportFirstTx(m_probe, m_pairs->Flow(frame.sender, receiver), frame.number, size);
            }
        }
    }

    void Heard(const FrameTag& frame, uint32_t receiver, uint32_t size)
    {
        m_monitor->ReportLastRx(m_probe, m_pairs->Flow(frame.sender, receiver), frame.number, size);
    }

    // Of each flow: sender, receiver, frames sent, heard, bytes heard, sums of delays and of their changes in ns.
    std::string Stats() const
    {
        Writer body;
        for (const auto& [flow, stats] : m_monitor->GetFlowStats())
        {
            body.Put<int64_t>(m_pairs->Sender(flow));
            body.Put<int64_t>(m_pairs->Receiver(flow));
            body.Put<int64_t>(stats.txPackets);
            body.Put<int64_t>(stats.rxPackets);
            body.Put<int64_t>(stats.rxBytes);
            body.Put<int64_t>(stats.delaySum.GetNanoSeconds());
            body.Put<int64_t>(stats.jitterSum.GetNanoSeconds());
        }
        return body.Body();
    }

    void Write() const
    {
        m_monitor->CheckForLostPackets();
        m_monitor->SerializeToXmlFile(m_path, false, false);
    }

  private:
    std::string m_path;
    Ptr<Pairs> m_pairs;
    Ptr<FlowMonitor> m_monitor = CreateObject<FlowMonitor>();
    Ptr<PairsProbe> m_probe = CreateObject<PairsProbe>(m_monitor);
};
